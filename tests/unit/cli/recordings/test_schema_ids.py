"""Ids of schemas in messages, which another registry changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import RegistryError
from millrace_cli.recordings.contents import COLUMNS, RecordedMessage
from millrace_cli.recordings.schema_ids import SchemaCollector, SchemaIds

OLD, NEW, OTHER = b"\0\0\0\0\7", b"\0\0\0\1\0", b"\0\0\0\0\5"
IDS = SchemaIds({"key": {}, "value": {OLD: NEW}})


def message(key: bytes | None, value: bytes | None, *headers: tuple[str, bytes | None]) -> RecordedMessage:
    return RecordedMessage(0, None, key, value, list(headers))


@pytest.mark.parametrize(
    ("recorded", "rewritten"),
    [
        (message(OLD + b"k", OLD + b"v"), message(OLD + b"k", NEW + b"v")),
        (message(None, None), message(None, None)),
        (message(None, OTHER + b"v"), message(None, OTHER + b"v")),
        (message(None, b"\0\0"), message(None, b"\0\0")),
        (message(None, OLD), message(None, NEW)),
        # A header names the schema, so that the value begins with something else
        (
            message(None, OLD + b"v", ("__value_schema_id", OLD), ("__key_schema_id", OLD), ("x", OLD)),
            message(None, OLD + b"v", ("__value_schema_id", NEW), ("__key_schema_id", OLD), ("x", OLD)),
        ),
        (message(None, b"v", ("__value_schema_id", None)), message(None, b"v", ("__value_schema_id", None))),
    ],
)
def test_ids_are_rewritten_where_a_message_names_its_schema(
    recorded: RecordedMessage, rewritten: RecordedMessage
) -> None:
    assert IDS.rewrite(recorded) == rewritten


def test_guids_and_registries_that_do_not_answer_are_told() -> None:
    def collect(**fields: object) -> None:
        rows = pa.Table.from_pylist([{"partition": 0, "offset": 0, **fields}], COLUMNS)
        list(SchemaCollector("http://name:secret@127.0.0.1:1", "orders").collect(rows))

    with pytest.raises(RegistryError, match="names a schema by a GUID, which recordings do not keep: record without"):
        collect(value=b"v", headers=[{"key": "__value_schema_id", "value": b"\1" + bytes(16)}])
    with pytest.raises(RegistryError, match=r"does not answer at http://127\.0\.0\.1:1/schemas/ids/7: ") as error:
        collect(value=OLD)
    assert "secret" not in str(error.value)


def collected(answers: dict[str, Any], *rows: dict[str, Any]) -> tuple[list[tuple[str, int]], list[str]]:
    """Return part and id of the schemas of a registry that messages name, and what people are told."""
    collector = SchemaCollector(
        "http://registry", "orders", lambda url: answers.get(url.removeprefix("http://registry"))
    )
    table = pa.Table.from_pylist([{"partition": 0, "offset": 0, **row} for row in rows], COLUMNS)
    schemas = [(schema.part, schema.id) for schema in collector.collect(table)]
    notes: list[str] = []
    collector.check(notes.append)
    return schemas, notes


def registered(number: int, *subjects: str) -> dict[str, Any]:
    versions = [{"subject": subject, "version": 1} for subject in subjects]
    return {f"/schemas/ids/{number}": {"schema": '"string"'}, f"/schemas/ids/{number}/versions": versions}


def test_a_registry_that_has_no_schema_that_messages_name_is_told() -> None:
    schemas, (note,) = collected({}, {"value": OLD + b"v"})
    assert schemas == []
    assert note == (
        "no schemas were recorded: messages seem to name some, such as 7 of values, but the schema registry has none "
        "of them for this topic; is --registry its whole address?"
    )
    assert collected({}, {"value": b"v"}) == ([], [])


def test_numbers_as_keys_do_not_name_the_schemas_of_other_topics() -> None:
    answers = registered(7, "orders-value") | registered(1, "payments-key", "payments-value")
    number = (2**24 + 5).to_bytes(8, "big")
    assert collected(answers, {"key": number, "value": OLD + b"v"}) == ([("value", 7)], [])


def test_schemas_with_subjects_named_after_records_are_collected() -> None:
    answers = registered(7, "com.acme.Order", "payments-value")
    assert collected(answers, {"value": OLD + b"v"}) == ([("value", 7)], [])
