"""A catalog that tests name by its import string: tables of one column each, without a broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import Catalog, CatalogColumn, CatalogTable
from millrace.errors import UnknownTopicError
from millrace.options import option

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class WordsOptions:
    """The options of `WordsCatalog`."""

    words: str = option("words", default="letter", doc="The names of the tables.")


class WordTable(CatalogTable):
    """A table with a column of its own name."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def columns(self) -> list[CatalogColumn]:
        return [CatalogColumn(pa.field(self._name, pa.string()), "STRING", "value")]

    @property
    def primary_key(self) -> tuple[str, ...]:
        return ()

    @property
    def options(self) -> Mapping[str, str]:
        return {"topic": self._name, "format": "raw"}

    def describe(self) -> str:
        return f"table {self._name}"

    def ddl(self) -> str:
        return f"CREATE TABLE {self._name} ({self.spark_ddl()})"

    def spark_ddl(self) -> str:
        return f"`{self._name}` STRING"

    def json_schema(self) -> str:
        return "{}"

    def read(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        return spark.createDataFrame([], self.spark_ddl())

    def read_stream(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        raise NotImplementedError


class WordsCatalog(Catalog):
    """A table for each word."""

    Options = WordsOptions
    options: WordsOptions

    def list_tables(self) -> list[str]:
        return sorted(self.options.words.split(","))

    def table(self, name: str) -> CatalogTable:
        if name not in self.list_tables():
            raise UnknownTopicError(f"no table {name!r}")
        return WordTable(name)

    def refresh(self, name: str | None = None) -> None:
        """Nothing is kept."""

    def create_views(self, spark: SparkSession) -> list[str]:
        return []
