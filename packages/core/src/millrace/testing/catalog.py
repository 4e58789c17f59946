"""The conformance suite for catalogs."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping

import pyarrow as pa
import pytest

from millrace.contracts import Catalog, CatalogTable
from millrace.errors import MillraceError, OptionsError
from millrace.options.secrets import is_secret


class CatalogSuite(ABC):
    """Tests that a catalog keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_catalog`::

        class TestRegistryCatalog(CatalogSuite):
            def make_catalog(self, options):
                return RegistryCatalog.from_options({"url": "http://localhost:8081", **options})

    The catalog must have a table at least, and all of its tables columns; where others share its tables, override
    `names` too. What `CatalogTable.read` gives is for tests of your own.
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
        assert isinstance(self.make_catalog({}), Catalog)

    def test_options_are_parsed(self) -> None:
        catalog = self.make_catalog({})
        assert isinstance(catalog.options, type(catalog).Options)
        assert dataclasses.is_dataclass(catalog.options)

    def test_tables_are_listed_in_order_and_once(self) -> None:
        names = self.make_catalog({}).list_tables()
        assert names == sorted(set(names))
        assert self.names(), "the suite needs a table to look at"
        assert set(self.names()) <= set(names)

    def test_a_table_has_the_name_that_it_was_asked_for_by(self) -> None:
        assert [table.name for table in self.tables()] == self.names()

    def test_names_of_columns_are_their_own(self) -> None:
        for table in self.tables():
            names = [column.name for column in table.columns]
            assert names, f"{table.name} has no columns"
            assert len(set(names)) == len(names)

    def test_the_schema_is_that_of_the_columns(self) -> None:
        for table in self.tables():
            assert table.schema == pa.schema([column.field for column in table.columns])

    def test_the_primary_key_is_of_columns(self) -> None:
        for table in self.tables():
            assert set(table.primary_key) <= set(table.schema.names)

    def test_texts_name_the_columns(self) -> None:
        for table in self.tables():
            for text in (table.describe(), table.ddl(), table.spark_ddl()):
                assert all(column.name in text for column in table.columns)
            assert isinstance(json.loads(table.json_schema()), dict)

    def test_no_text_shows_a_secret(self) -> None:
        for table in self.tables():
            secrets = [value for name, value in table.options.items() if is_secret(name)]
            for text in (repr(table), repr(table.options), table.describe(), table.ddl()):
                assert not any(secret in text for secret in secrets)

    def test_options_are_texts(self) -> None:
        for table in self.tables():
            assert all(type(name) is type(value) is str for name, value in table.options.items())

    def test_a_table_that_there_is_not_is_named(self) -> None:
        with pytest.raises(MillraceError, match="no-such-table"):
            self.make_catalog({}).table("no-such-table")

    def test_an_option_that_there_is_not_is_named(self) -> None:
        with pytest.raises(OptionsError, match=r"no\.such\.option"):
            self.make_catalog({"no.such.option": "1"})

    def test_what_is_refreshed_is_there_still(self) -> None:
        catalog = self.make_catalog({})
        for name in self.names():
            before = catalog.table(name).schema
            catalog.refresh(name)
            assert catalog.table(name).schema == before
            catalog.refresh()
            assert catalog.table(name).schema == before
        catalog.refresh("no-such-table")
