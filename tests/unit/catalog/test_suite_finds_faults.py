"""The conformance suite fails for catalogs that break the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Catalog, CatalogColumn, CatalogTable
from millrace.errors import OptionsError, UnknownTopicError
from millrace.options.secrets import Properties
from millrace.testing import CatalogSuite


class Table(CatalogTable):
    """A table of one column; what a test wants otherwise is given."""

    name = "orders"
    columns = (CatalogColumn(pa.field("id", pa.int64()), "BIGINT", "value"),)
    primary_key = ("id",)
    options: Mapping[str, str] = Properties({"properties.sasl.password": "s3cr3t"})

    def describe(self) -> str:
        return "id BIGINT"

    ddl = spark_ddl = describe

    def json_schema(self) -> str:
        return "{}"

    def read(self, spark: Any, options: Any = None) -> Any:
        raise NotImplementedError

    read_stream = read


class Known(Catalog):
    """A catalog of tables that are all alike.

    Args:
        options: Refused, unless ``ignores`` has ``options``.
        tables: Their names.
        given: What their class has otherwise; ``ignores`` with ``names``: there is a table of any name.
    """

    def __init__(self, options: Mapping[str, str], tables: tuple[str, ...], given: dict[str, Any]) -> None:
        if options and given.get("ignores") != "options":
            raise OptionsError("catalog", tuple(options))
        super().__init__()
        self._tables = tables
        self._given = given

    def list_tables(self) -> list[str]:
        return list(self._tables)

    def table(self, name: str) -> CatalogTable:
        if name not in self._tables and self._given.get("ignores") != "names":
            raise UnknownTopicError(name)
        return type("Given", (Table,), self._given)()

    def refresh(self, name: str | None = None) -> None: ...

    def create_views(self, spark: Any) -> list[str]:
        raise NotImplementedError


def suite_of(tables: tuple[str, ...] = ("orders",), **given: Any) -> CatalogSuite:
    class Suite(CatalogSuite):
        def make_catalog(self, options: Mapping[str, str]) -> Catalog:
            return Known(options, tables, given)

    return Suite()


def failing(suite: CatalogSuite) -> set[str]:
    failed = set()
    for name in dir(suite):
        if name.startswith("test_"):
            try:
                getattr(suite, name)()
            except (AssertionError, pytest.fail.Exception):
                failed.add(name.removeprefix("test_"))
    return failed


def test_a_correct_catalog_passes() -> None:
    assert failing(suite_of()) == set()


COLUMN = Table.columns[0]


@pytest.mark.parametrize(
    ("suite", "test"),
    [
        (suite_of(()), "tables_are_listed_in_order_and_once"),
        (suite_of(("orders", "audit")), "tables_are_listed_in_order_and_once"),
        (suite_of(name="other"), "a_table_has_the_name_that_it_was_asked_for_by"),
        (suite_of(columns=(COLUMN, COLUMN)), "names_of_columns_are_their_own"),
        (suite_of(schema=pa.schema([])), "the_schema_is_that_of_the_columns"),
        (suite_of(primary_key=("key",)), "the_primary_key_is_of_columns"),
        (suite_of(describe=lambda self: "a table"), "texts_name_the_columns"),
        (suite_of(ddl=lambda self: "id s3cr3t"), "no_text_shows_a_secret"),
        (suite_of(options={"n": 1}), "options_are_texts"),
        (suite_of(ignores="names"), "a_table_that_there_is_not_is_named"),
        (suite_of(ignores="options"), "an_option_that_there_is_not_is_named"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_faults_are_found(suite: CatalogSuite, test: str) -> None:
    assert test in failing(suite)
