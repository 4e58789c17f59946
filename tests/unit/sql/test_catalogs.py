"""Names, changes and kept files of definitions."""

from __future__ import annotations

import pytest

from millrace_sql.definitions.kept import KeptDefinitions
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import TableDefinition, ViewDefinition
from millrace_sql.definitions.secrets import References
from millrace_sql.definitions.store import DefinitionStore
from millrace_sql.errors import SqlError
from millrace_sql.parser import parse
from millrace_sql.script_texts import Identifier, SqlText


def manager(folder=None):
    kept = None if folder is None else KeptDefinitions(DefinitionStore(str(folder)))
    return CatalogManager("default_catalog", "default_database", References(), kept)


def table(catalogs, name, **options):
    identifier = catalogs.resolve(Identifier(tuple(name.split("."))))
    return TableDefinition(identifier, options={"connector": "kafka", **options})


def statement(text):
    (parsed,) = parse(text)
    return parsed


def test_a_name_is_completed_by_the_current_catalog_and_database():
    catalogs = manager()
    assert catalogs.resolve(Identifier(("t",))).parts == ("default_catalog", "default_database", "t")
    assert catalogs.resolve(Identifier(("d", "t"))).parts == ("default_catalog", "d", "t")
    assert catalogs.resolve(Identifier(("c", "d", "t"))).parts == ("c", "d", "t")


def test_the_names_of_the_reference_can_be_made():
    catalogs = manager()
    catalogs.create_catalog(statement("CREATE CATALOG vvp WITH ('type' = 'generic_in_memory')"))
    catalogs.create(table(catalogs, "vvp.default.t"))
    assert catalogs.names("vvp", "default") == ["t"]


def test_an_unknown_name_has_the_nearest_one():
    catalogs = manager()
    catalogs.create(table(catalogs, "orders"))
    unknown = catalogs.resolve(Identifier(("order",)))
    with pytest.raises(
        SqlError, match=r"no table or view default_catalog\.default_database\.order; did you mean orders"
    ):
        catalogs.get(unknown)
    with pytest.raises(SqlError, match="there is no catalog kafka; there are default_catalog"):
        catalogs.catalog("kafka")
    with pytest.raises(SqlError, match=r"no database default_catalog\.defaultdatabase; did you mean default_database"):
        catalogs.get(Identifier(("default_catalog", "defaultdatabase", "t")))


def test_a_name_is_taken_once():
    catalogs = manager()
    assert catalogs.create(table(catalogs, "orders"))
    assert not catalogs.create(table(catalogs, "orders"), if_not_exists=True)
    assert catalogs.create(table(catalogs, "orders", topic="x"), or_replace=True)
    with pytest.raises(SqlError, match=r"table .*orders exists already: write CREATE OR REPLACE, or IF NOT EXISTS"):
        catalogs.create(table(catalogs, "orders"))


def test_a_temporary_table_stands_before_a_kept_one(tmp_path):
    catalogs = manager(tmp_path)
    kept = table(catalogs, "orders")
    temporary = TableDefinition(kept.identifier, options={"connector": "print"}, is_temporary=True)
    catalogs.create(kept)
    catalogs.create(temporary)
    assert catalogs.get(kept.identifier) is temporary
    catalogs.drop(temporary)
    assert catalogs.get(kept.identifier) is kept
    assert manager(tmp_path).get(kept.identifier).options["connector"] == "kafka"


def test_definitions_are_there_in_the_next_session(tmp_path):
    catalogs = manager(tmp_path)
    catalogs.create_database(Identifier(("sales",)), "what is sold", if_not_exists=False)
    catalogs.create_catalog(statement("CREATE CATALOG other WITH ('type' = 'generic_in_memory')"))
    catalogs.create(table(catalogs, "sales.`a/b"))
    catalogs.create(table(catalogs, "other.default.t", topic="it's"))
    view = ViewDefinition(catalogs.resolve(Identifier(("v",))), SqlText("SELECT 1 AS x"), (), "other", "default")
    catalogs.create(view)
    later = manager(tmp_path)
    assert later.catalogs() == ["default_catalog", "other"]
    assert later.names("default_catalog", "sales") == ["`a/b"]
    assert later.get(Identifier(("other", "default", "t"))).options["topic"] == "it's"
    assert later.get(view.identifier) == view


def test_what_is_dropped_is_gone_in_the_next_session(tmp_path):
    catalogs = manager(tmp_path)
    catalogs.create_database(Identifier(("sales",)), None, if_not_exists=False)
    catalogs.create(table(catalogs, "sales.orders"))
    catalogs.create(table(catalogs, "orders"))
    with pytest.raises(SqlError, match="has tables: write CASCADE"):
        catalogs.drop_database(Identifier(("sales",)), if_exists=False, is_cascade=False)
    catalogs.drop_database(Identifier(("sales",)), if_exists=False, is_cascade=True)
    orders = table(catalogs, "orders")
    renamed = table(catalogs, "purchases")
    catalogs.rename(orders, renamed)
    later = manager(tmp_path)
    assert later.databases() == ["default_database"]
    assert later.names("default_catalog", "default_database") == ["purchases"]


def test_a_secret_is_never_kept(tmp_path):
    catalogs = manager(tmp_path)
    with pytest.raises(SqlError, match=r"'properties.sasl.password' holds a secret: write '\$\{env:NAME\}'"):
        catalogs.create(table(catalogs, "orders", **{"properties.sasl.password": "hunter2"}))
    catalogs.create(table(catalogs, "orders", **{"properties.sasl.password": "${env:P}"}))
    files = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 1
    assert "${env:P}" in files[0]
    assert "hunter2" not in files[0]


def test_a_file_that_is_no_definition_is_named(tmp_path):
    manager(tmp_path).create(table(manager(), "orders"))
    (file,) = tmp_path.rglob("*.sql")
    file.write_text("SELECT 1")
    with pytest.raises(SqlError, match=r"kept definition .*orders\.sql: expected the statement CREATE TABLE or"):
        manager(tmp_path)


def test_a_folder_that_no_file_system_has_is_refused():
    with pytest.raises(SqlError, match="the folder of kept definitions, 'nosuch://x', cannot be used"):
        DefinitionStore("nosuch://x")


def test_the_current_and_the_built_in_stay():
    catalogs = manager()
    with pytest.raises(SqlError, match="is the current one: USE CATALOG another one first"):
        catalogs.drop_catalog("default_catalog", if_exists=False)
    with pytest.raises(SqlError, match="is the current one: USE another one first"):
        catalogs.drop_database(Identifier(("default_database",)), if_exists=False, is_cascade=True)


def test_a_catalog_needs_a_type():
    with pytest.raises(SqlError, match="the option 'type' of a catalog is required"):
        manager().create_catalog(statement("CREATE CATALOG c WITH ('bootstrap' = 'x')"))
