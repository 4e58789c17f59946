"""The conformance suite for catalogs."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping

import pyarrow as pa

from millrace.contracts import Catalog, CatalogTable
from millrace.errors import MillraceError, OptionsError
from millrace.options.secrets import is_secret
from millrace.testing.refusals import must_refuse


class CatalogSuite(ABC):
    """Tests that a catalog keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_catalog`::

        class TestRegistryCatalog(CatalogSuite):
            def make_catalog(self, options):
                return RegistryCatalog.from_options({"url": "http://localhost:8081", **options})

    The catalog must have a table at least, and all of its tables columns; where others share its tables, override
    `names` too. What `CatalogTable.read` gives is for tests of your own.

    Rules that the tests check:

    - ``from_options`` parses options by name into ``Options``, a dataclass, and refuses unknown ones by an
      OptionsError.
    - Tables are listed by name, sorted, each once. A table has the name that it was asked for by; one that there is
      not is a MillraceError that names it. `refresh` of it does nothing.
    - The columns of a table have names of their own, its primary key is of columns, and its schema is theirs.
    - The texts of a table name all columns, and none shows the value of a secret option. Its JSON Schema is an object.
    - A table's options are texts by names, for the data source ``millrace``.
    - After `refresh` a table is there still, with the same columns where nothing has changed.
    """

    @abstractmethod
    def make_catalog(self, options: Mapping[str, str]) -> Catalog:
        """Make a new catalog, with further options."""

    def names(self) -> list[str]:
        """Return the tables to look at, in order; all of them by default."""
        return self.make_catalog({}).list_tables()

    def tables(self) -> list[CatalogTable]:
        """Return the tables to look at, from a new catalog."""
        catalog = self.make_catalog({})
        return [catalog.table(name) for name in self.names()]

    def test_is_a_catalog(self) -> None:
        assert isinstance(self.make_catalog({}), Catalog), "subclass millrace.contracts.Catalog"

    def test_options_are_parsed(self) -> None:
        catalog = self.make_catalog({})
        assert isinstance(catalog.options, type(catalog).Options), (
            "the attribute `options` must be an instance of `Options`"
        )
        assert dataclasses.is_dataclass(catalog.options), (
            "`Options` must be a dataclass of millrace.options.option fields"
        )

    def test_tables_are_listed_in_order_and_once(self) -> None:
        names = self.make_catalog({}).list_tables()
        assert names == sorted(set(names)), "list_tables() must be sorted, each name once"
        assert self.names(), "the suite needs a table to look at"
        assert set(self.names()) <= set(names), "the tables that `names` gives must be listed"

    def test_a_table_has_the_name_that_it_was_asked_for_by(self) -> None:
        assert [table.name for table in self.tables()] == self.names(), "table(name).name must be that name"

    def test_names_of_columns_are_their_own(self) -> None:
        for table in self.tables():
            names = [column.name for column in table.columns]
            assert names, f"{table.name} has no columns"
            assert len(set(names)) == len(names), f"columns of {table.name} share a name"

    def test_the_schema_is_that_of_the_columns(self) -> None:
        for table in self.tables():
            assert table.schema == pa.schema([column.field for column in table.columns]), (
                f"the schema of {table.name} must consist of the fields of its columns, in order"
            )

    def test_the_primary_key_is_of_columns(self) -> None:
        for table in self.tables():
            assert set(table.primary_key) <= set(table.schema.names), (
                f"the primary key of {table.name} must be of columns"
            )

    def test_texts_name_the_columns(self) -> None:
        for table in self.tables():
            for text in (table.describe(), table.ddl(), table.spark_ddl()):
                assert all(column.name in text for column in table.columns), (
                    f"describe(), ddl() and spark_ddl() of {table.name} must name every column"
                )
            assert isinstance(json.loads(table.json_schema()), dict), "json_schema() must be a JSON object"

    def test_no_text_shows_a_secret(self) -> None:
        for table in self.tables():
            secrets = [value for name, value in table.options.items() if is_secret(name)]
            for text in (repr(table), repr(table.options), table.describe(), table.ddl()):
                assert not any(secret in text for secret in secrets), (
                    f"no text of {table.name} may show a secret: return its options as "
                    f"millrace.options.secrets.Properties"
                )

    def test_options_are_texts(self) -> None:
        for table in self.tables():
            assert all(type(name) is type(value) is str for name, value in table.options.items()), (
                f"the options of {table.name} must be texts by names, as .options(...) takes them"
            )

    def test_a_table_that_there_is_not_is_named(self) -> None:
        with must_refuse(MillraceError, "no-such-table", "a table that does not exist must be named in the error"):
            self.make_catalog({}).table("no-such-table")

    def test_an_option_that_there_is_not_is_named(self) -> None:
        with must_refuse(OptionsError, "no.such.option", "an unknown option must be named in the error"):
            self.make_catalog({"no.such.option": "1"})

    def test_what_is_refreshed_is_there_still(self) -> None:
        catalog = self.make_catalog({})
        for name in self.names():
            before = catalog.table(name).schema
            catalog.refresh(name)
            assert catalog.table(name).schema == before, f"{name} must be there after refresh({name!r}), as it was"
            catalog.refresh()
            assert catalog.table(name).schema == before, f"{name} must be there after refresh(), as it was"
        catalog.refresh("no-such-table")
