"""The columns that a read of changes has where the user gives none."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import SampledMessage, SchemaInference
from millrace.errors import SchemaError
from millrace.testing import SchemaInferenceSuite
from millrace.testing.schema_inference import sampled
from millrace_catalog.inference.changelog_inference import (
    CanalSchemaInference,
    DebeziumSchemaInference,
    MaxwellSchemaInference,
    OggSchemaInference,
)

CANAL = {
    "data": [{"id": "1", "on": "1", "at": "2024-05-01 12:00:00"}],
    "type": "INSERT",
    "database": "shop",
    "table": "orders",
    "pkNames": ["id"],
    "sqlType": {"id": 4, "on": -6, "at": 93},
    "mysqlType": {"id": "int", "on": "tinyint(1)", "at": "timestamp"},
}
OTHER = {**CANAL, "table": "users", "pkNames": ["name"], "data": [{"name": "a", "id": "2"}]}
CHANGE = {"before": None, "after": {"id": 1, "name": "a"}, "op": "c"}


def payload(message: dict[str, object]) -> bytes:
    return json.dumps(message).encode()


class TestCanalSchemaInference(SchemaInferenceSuite):
    def make_inference(self) -> CanalSchemaInference:
        return CanalSchemaInference()

    def messages(self) -> Sequence[bytes]:
        return [payload(CANAL), payload(OTHER)]

    def malformed(self) -> bytes:
        return b"{"

    def test_tables_of_a_topic_have_their_columns_together(self) -> None:
        assert self.infer(self.messages()).names == ["id", "on", "at", "name"]


class TestDebeziumSchemaInference(SchemaInferenceSuite):
    def make_inference(self) -> DebeziumSchemaInference:
        return DebeziumSchemaInference()

    def messages(self) -> Sequence[bytes]:
        return [payload(CHANGE), payload({**CHANGE, "before": {"id": 1.5}, "op": "u"})]

    def malformed(self) -> bytes:
        return payload({"op": "x"})

    def test_rows_before_and_after_count(self) -> None:
        assert self.types(self.infer(self.messages())) == {"id": pa.float64(), "name": pa.string()}


class TestMaxwellSchemaInference(SchemaInferenceSuite):
    def make_inference(self) -> MaxwellSchemaInference:
        return MaxwellSchemaInference()

    def messages(self) -> Sequence[bytes]:
        change = {"table": "orders", "type": "insert", "data": {"id": 1, "name": "a"}}
        return [payload(change), payload({**change, "type": "update", "data": {"id": 2}, "old": {"price": 1.5}})]

    def malformed(self) -> bytes:
        return payload({"type": "x"})

    def test_old_values_count(self) -> None:
        assert self.infer(self.messages()).names == ["id", "name", "price"]


class TestOggSchemaInference(SchemaInferenceSuite):
    def make_inference(self) -> OggSchemaInference:
        return OggSchemaInference()

    def messages(self) -> Sequence[bytes]:
        change = {"table": "ORDERS", "op_type": "I", "after": {"ID": 1}}
        return [payload(change), payload({**change, "op_type": "D", "before": {"NAME": "a"}, "after": None})]

    def malformed(self) -> bytes:
        return payload({"op_type": "x"})

    def test_rows_before_and_after_count(self) -> None:
        assert self.infer(self.messages()).names == ["ID", "NAME"]


def inference(name: str, **options: str) -> SchemaInference:
    given = {"properties.bootstrap.servers": "h:1", "topic": "t", "format": name}
    config = configure_source({**given, **{f"{name}.{key}": value for key, value in options.items()}})
    assert config.inference is not None
    made = config.inference.create()
    assert isinstance(made, SchemaInference)
    return made


def types(made: SchemaInference, message: dict[str, object]) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in made.infer({"t": sampled([payload(message)])}, 10)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"infer-schema.strategy": "SQL_TYPE"}, [pa.int32(), pa.int8(), pa.timestamp("us")]),
        ({"infer-schema.strategy": "MYSQL_TYPE"}, [pa.int32(), pa.bool_(), pa.timestamp("us")]),
        (
            {"infer-schema.strategy": "MYSQL_TYPE", "mysql.treat-tinyint1-as-boolean.enabled": "false"},
            [pa.int32(), pa.int8(), pa.timestamp("us")],
        ),
        (
            {"infer-schema.strategy": "MYSQL_TYPE", "mysql.treat-mysql-timestamp-as-datetime-enabled": "false"},
            [pa.int32(), pa.bool_(), pa.timestamp("us", "UTC")],
        ),
        ({"infer-schema.strategy": "SQL_TYPE", "infer-schema.primitive-as-string": "true"}, [pa.string()] * 3),
    ],
)
def test_options_of_a_read_choose_the_types_of_canal(options: dict[str, str], expected: list[pa.DataType]) -> None:
    assert list(types(inference("canal-json", **options), CANAL).values()) == expected


def test_options_of_a_read_choose_the_types_of_debezium() -> None:
    options = {"infer-schema.primitive-as-string": "true", "schema-include": "true"}
    made = inference("debezium-json", **options)
    assert types(made, {"schema": {}, "payload": CHANGE}) == {"id": pa.string(), "name": pa.string()}


def test_a_topic_without_changes_is_told() -> None:
    bad = [SampledMessage(0, 7, None, b"x")]
    with pytest.raises(SchemaError, match="topic 't' holds no changes: none of the 1 sampled messages has any; "):
        CanalSchemaInference().infer({"t": bad}, 10, skip_malformed=True)
