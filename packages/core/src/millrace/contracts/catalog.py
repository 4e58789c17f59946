"""Catalogs: how topics appear as tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import pyarrow as pa

from millrace.contracts.plugin import Plugin
from millrace.display import html_table, html_text
from millrace.errors import MillraceError
from millrace.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Part = Literal["key", "value", "metadata"]
"""The part of a message that a column comes from."""


@dataclass(frozen=True)
class CatalogColumn:
    """A column of a table.

    Attributes:
        field: Its name, its Arrow type, and whether it may be NULL.
        type: Its type as the catalog's SQL writes it.
        part: The part of a message that it comes from.
        evidence: Readable reasons for its type, such as the messages from which it was inferred, in order.
    """

    field: pa.Field
    type: str
    part: Part
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.field.name


class CatalogTable(ABC):
    """A table of a catalog, as of the time when it was looked up."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the table."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[CatalogColumn]:
        """The columns, in order; no two have the same name."""

    @property
    @abstractmethod
    def primary_key(self) -> tuple[str, ...]:
        """The columns of its primary key. Empty if it has none."""

    @property
    @abstractmethod
    def options(self) -> Mapping[str, str]:
        """The options with which the data source ``millrace`` reads it; ``str()`` does not show secrets."""

    @abstractmethod
    def describe(self) -> str:
        """Return a readable description of the table, in lines of text."""

    @abstractmethod
    def ddl(self) -> str:
        """Return a CREATE TABLE statement in the catalog's SQL."""

    @abstractmethod
    def spark_ddl(self) -> str:
        """Return its columns as DDL for Spark's ``.schema(...)``."""

    @abstractmethod
    def json_schema(self) -> str:
        """Return the JSON Schema of the values of its messages."""

    @property
    def schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""
        return pa.schema([column.field for column in self.columns])

    def _repr_html_(self) -> str:
        """Return the columns for a notebook, with the reasons for their types."""
        keys = set(self.primary_key)
        rows = [
            (
                column.name,
                column.type,
                "primary key" if column.name in keys else column.part,
                "yes" if column.field.nullable else "no",
                "; ".join(column.evidence),
            )
            for column in self.columns
        ]
        return html_table(("column", "type", "part", "may be NULL", "evidence"), rows, self.name)

    @abstractmethod
    def read(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Return its rows.

        Args:
            spark: The session.
            options: Further options of the data source, such as ``scan.bounded.mode``. They override those of the
            table.
        """

    @abstractmethod
    def read_stream(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Return its rows as a stream; see `read`."""


class Catalog(Plugin, ABC):
    """A catalog of tables."""

    @classmethod
    def from_options(cls, raw: Mapping[str, str]) -> Self:
        """Create a catalog from the user's options.

        Override this in a catalog that accepts more options than its ``Options`` declare.

        Raises:
            OptionsError: Options are invalid; the message lists all problems.
        """
        from millrace.options.parser import OptionParser

        parser = OptionParser("catalog", raw)
        options = parser.take(cls.Options)
        parser.finish()
        return cls(options)

    @abstractmethod
    def list_tables(self) -> list[str]:
        """Return the names of all tables, sorted."""

    @abstractmethod
    def table(self, name: str) -> CatalogTable:
        """Return a table, perhaps from a cache.

        Raises:
            UnknownTopicError: There is no table of that name.
            SchemaError: Its columns cannot be determined.
        """

    @abstractmethod
    def refresh(self, name: str | None = None) -> None:
        """Drop a table from the cache, or all of them."""

    @abstractmethod
    def create_views(self, spark: SparkSession) -> list[str]:
        """Create a temporary view of each table whose columns can be determined; return their names, sorted."""

    def _repr_html_(self) -> str:
        """Return the names of the tables for a notebook, or why they cannot be listed."""
        try:
            names = self.list_tables()
        except MillraceError as error:
            return html_text(str(error))
        return html_table(("table",), ([name] for name in names), counted(len(names), "table"))
