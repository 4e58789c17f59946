"""Checks of CREATE TABLE, LIKE, watermarks and references to secrets."""

from __future__ import annotations

import pytest

from millrace_catalog.types import BIGINT, STRING, timestamp_ltz, with_nullability
from millrace_sql.definitions.checks import check_definition
from millrace_sql.definitions.event_time import watermark_delay_ms
from millrace_sql.definitions.like import merge_like
from millrace_sql.definitions.model import TableDefinition
from millrace_sql.definitions.secrets import References, plain_secrets, without_secrets
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import NOWHERE, Identifier, ScriptPosition, SqlText
from millrace_sql.statements import ComputedColumn, Like, MetadataColumn, PhysicalColumn, PrimaryKey, Watermark

NAME = Identifier(("default_catalog", "default_database", "orders"))
ID = PhysicalColumn("id", BIGINT)
COUNTRY = PhysicalColumn("country", STRING)
TIME = PhysicalColumn("ts", timestamp_ltz(3))
OPTIONS = {"connector": "kafka"}
LEGACY = {
    "connector.type": "kafka",
    "connector.version": "universal",
    "connector.topic": "orders",
    "connector.properties.bootstrap.servers": "h:9092",
    "format.type": "json",
    "format.fail-on-missing-field": "true",
    "update-mode": "append",
}


def table(*columns, **parts):
    return TableDefinition(NAME, columns, **{"options": OPTIONS, **parts})


def refusal(definition):
    with pytest.raises(SqlError) as caught:
        check_definition(definition, ScriptPosition(3, 7))
    return str(caught.value)


def test_a_key_makes_its_columns_not_null():
    checked = check_definition(table(ID, COUNTRY, primary_key=PrimaryKey(("id",))), NOWHERE)
    assert checked.columns == (PhysicalColumn("id", with_nullability(BIGINT, False)), COUNTRY)


def test_a_key_may_have_metadata_columns():
    offset = MetadataColumn("offset", BIGINT, is_virtual=True)
    assert not check_definition(table(offset, primary_key=PrimaryKey(("offset",))), NOWHERE).columns[0].type.nullable


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (table(ID, options={}), "table default_catalog.default_database.orders: the option 'connector' is required"),
        (table(ID, options={"conector": "kafka"}), "did you mean 'connector' instead of 'conector'?"),
        (
            table(ID, options=LEGACY),
            "orders: the options have the names of Flink before 1.11: write 'connector.type' as 'connector', "
            "'connector.topic' as 'topic', 'connector.properties.bootstrap.servers' as 'properties.bootstrap.servers', "
            "'format.type' as 'format', 'format.fail-on-missing-field' as 'json.fail-on-missing-field', and leave out "
            "'connector.version', 'update-mode'",
        ),
        (table(ID, PhysicalColumn("ID", STRING)), "column ID is defined twice"),
        (
            table(COUNTRY, primary_key=PrimaryKey(("contry",))),
            "primary key: contry is not a column of the table; did you mean country?",
        ),
        (table(ID, primary_key=PrimaryKey(("x",))), "primary key: x is not a column of the table; its columns are id"),
        (table(primary_key=PrimaryKey(("x",))), "primary key: x is not a column of the table; it declares none"),
        (table(ID, primary_key=PrimaryKey(("id", "id"))), "column id is in the primary key twice"),
        (
            table(ID, ComputedColumn("twice", SqlText("id * 2")), primary_key=PrimaryKey(("twice",))),
            "primary key: twice is a computed column",
        ),
        (
            table(ID, ComputedColumn("a", SqlText("id + 1")), ComputedColumn("b", SqlText("a + 1"))),
            "computed column b uses the computed column a",
        ),
        (table(ComputedColumn("a", SqlText("a + 1"))), "computed column a uses itself"),
        (table(ID, watermark=Watermark("tz", SqlText("tz"))), "watermark: tz is not a column of the table"),
        (table(ID, watermark=Watermark("id", SqlText("id"))), "watermark: id is BIGINT; expected TIMESTAMP(3)"),
        (table(ID, partition_keys=("day",)), "PARTITIONED BY: day is not a column of the table"),
        (
            table(ID, MetadataColumn("offset", BIGINT), partition_keys=("offset",)),
            "PARTITIONED BY: offset is not a physical column",
        ),
    ],
)
def test_a_wrong_definition_is_refused(definition, message):
    assert message in refusal(definition)


def test_an_error_says_where():
    assert refusal(table(ID, PhysicalColumn("id", STRING, position=ScriptPosition(4, 2)))).startswith(
        "line 4, column 2: "
    )


@pytest.mark.parametrize(
    ("expression", "delay"),
    [
        ("ts", 0),
        ("`ts`", 0),
        ("ts - INTERVAL '5' SECOND", 5_000),
        ("(ts - INTERVAL '0.5' SECOND)", 500),
        ("ts - interval '2' minutes", 120_000),
        ("ts - INTERVAL '1' DAY", 86_400_000),
    ],
)
def test_a_watermark_has_a_delay(expression, delay):
    assert watermark_delay_ms(Watermark("ts", SqlText(expression))) == delay


@pytest.mark.parametrize(
    "expression", ["ts + INTERVAL '5' SECOND", "other", "ts - 5", "ts - INTERVAL '1' MONTH", "ts -"]
)
def test_another_watermark_is_refused_with_what_is_possible(expression):
    with pytest.raises(SqlError, match=r"expected ts or ts - INTERVAL '5' SECOND"):
        watermark_delay_ms(Watermark("ts", SqlText(expression)))


BASE = TableDefinition(
    Identifier(("c", "d", "base")),
    (ID, MetadataColumn("offset", BIGINT), ComputedColumn("twice", SqlText("id * 2"))),
    primary_key=PrimaryKey(("id",)),
    watermark=Watermark("ts", SqlText("ts")),
    partition_keys=("id",),
    options={"connector": "kafka", "topic": "orders"},
)


def like(own, *features):
    return merge_like(own, BASE, Like(BASE.identifier, features), NOWHERE)


def test_like_takes_all_and_overwrites_options():
    merged = like(TableDefinition(NAME, (COUNTRY,), options={"topic": "copies"}))
    assert [column.name for column in merged.columns] == ["id", "offset", "twice", "country"]
    assert merged.options == {"connector": "kafka", "topic": "copies"}
    assert (merged.primary_key, merged.watermark, merged.partition_keys) == (
        BASE.primary_key,
        BASE.watermark,
        BASE.partition_keys,
    )


def test_like_excludes_all_but_physical_columns_and_what_is_named():
    merged = like(TableDefinition(NAME), ("EXCLUDING", "ALL"), ("INCLUDING", "GENERATED"))
    assert [column.name for column in merged.columns] == ["id", "twice"]
    assert (merged.primary_key, merged.watermark, merged.partition_keys, dict(merged.options)) == (None, None, (), {})


def test_like_overwrites_a_computed_column_in_its_place():
    own = ComputedColumn("twice", SqlText("id + id"))
    merged = like(TableDefinition(NAME, (COUNTRY, own)), ("OVERWRITING", "GENERATED"))
    assert [column.name for column in merged.columns] == ["id", "offset", "twice", "country"]
    assert merged.columns[2] is own


@pytest.mark.parametrize(
    ("own", "features", "message"),
    [
        (TableDefinition(NAME, (ID,)), (), "LIKE: the base table c.d.base has a column id already"),
        (TableDefinition(NAME, options={"topic": "x"}), (("INCLUDING", "ALL"),), "has option 'topic' already"),
        (TableDefinition(NAME, primary_key=PrimaryKey(("id",))), (), "has a primary key already"),
        (
            TableDefinition(NAME, (ComputedColumn("twice", SqlText("1")),)),
            (),
            "add (OVERWRITING GENERATED or EXCLUDING",
        ),
        (TableDefinition(NAME), (("OVERWRITING", "ALL"),), "LIKE: ALL cannot be OVERWRITING"),
        (TableDefinition(NAME), (("INCLUDING", "ALL"), ("EXCLUDING", "ALL")), "LIKE: ALL is given twice"),
    ],
)
def test_like_refuses_what_is_defined_twice(own, features, message):
    with pytest.raises(SqlError) as caught:
        like(own, *features)
    assert message in str(caught.value)


def test_references_get_their_values(monkeypatch):
    monkeypatch.setenv("BROKER_PASSWORD", "from-env")
    references = References({"token": "t0p"}, {"topic": "orders"})
    options = {"topic": "${topic}-eu", "a.token": "${secret_values.token}", "b.password": "${env:BROKER_PASSWORD}"}
    resolved = references.resolve("t", options)
    assert dict(resolved) == {"topic": "orders-eu", "a.token": "t0p", "b.password": "from-env"}
    assert "t0p" not in repr(resolved)


def test_a_reference_without_a_value_is_named_with_what_to_do():
    with pytest.raises(SqlError, match=r"'\$\{secret_values.tokn\}' has no value: did you mean"):
        References({"token": "t0p"}).resolve("t", {"a": "${secret_values.tokn}"})
    with pytest.raises(SqlError, match="set the environment variable NO_SUCH_VARIABLE"):
        References().resolve("t", {"a": "${env:NO_SUCH_VARIABLE}"})


def test_plain_secrets_are_found_and_hidden():
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required username='u' password='{}';"
    options = {
        "topic": "orders",
        "properties.ssl.key.password": "hunter2",
        "properties.sasl.password": "${env:P}",
        "url": "postgresql://me:hunter2@host/db",
        "other.url": "postgresql://me:${env:P}@host/db",
        "properties.sasl.jaas.config": jaas.format("${secret_values.p}"),
        "key.jaas": jaas.format("hunter2"),
    }
    assert plain_secrets(options) == ["properties.ssl.key.password", "url", "key.jaas"]
    assert "hunter2" not in str(without_secrets(options))
    assert without_secrets(options)["properties.sasl.password"] == "${env:P}"
