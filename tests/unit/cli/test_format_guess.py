"""Formats, guessed from messages."""

from __future__ import annotations

import pytest

from millrace.errors import RegistryError
from millrace_cli import format_guess
from millrace_cli.format_guess import guess_format


@pytest.mark.parametrize(
    ("values", "format_", "reason"),
    [
        ([], "raw", "no message"),
        ([None], "raw", "no message"),
        ([b'{"id": 1}', b'{"id": '], "json", "JSON"),
        ([b'{"before": null, "after": {"id": 1}, "op": "c"}'], "debezium-json", "op"),
        ([b'{"schema": {}, "payload": {"before": null, "after": {"id": 1}, "op": "c"}}'], "debezium-json", "op"),
        ([b'{"op": "c", "after": {"id": 1}}', b'{"op": "d"}'], "debezium-json", "op"),
        ([b'{"type": "INSERT", "data": [{"id": 1}]}'], "canal-json", "list"),
        ([b"\0\0\0\0\x07rest", None], "raw", "schema 7"),
        ([b'{"type": "insert", "table": "t", "data": {"id": 1}}'], "maxwell-json", "data as an object"),
        ([b'{"op_type": "I", "table": "t", "after": {"id": 1}}'], "ogg-json", "op_type"),
        ([b"1,2,3"], "raw", "--format"),
        ([b'1,"2,5",3', b"4,5,6\n"], "csv", "3 texts by ','"),
        ([b"1|2", b"3|4"], "csv", "2 texts by '|'"),
        ([b"1,2", b"3"], "raw", "not JSON"),
        ([b"\x001,2", b"\x003,4"], "raw", "not JSON"),
        ([b"[1]"], "raw", "not JSON"),
    ],
)
def test_a_format_is_guessed(values: list[bytes | None], format_: str, reason: str) -> None:
    guess = guess_format(values)
    assert guess.format == format_
    assert reason in guess.reason


@pytest.mark.parametrize(
    ("registered", "format_"),
    [
        ({"schema": '"string"'}, "avro-confluent"),
        ({"schemaType": "JSON", "schema": "{}"}, "json-confluent"),
        ({"schemaType": "PROTOBUF", "schema": ""}, "protobuf-confluent"),
        (
            {"schema": '{"type": "record", "fields": [{"name": "before"}, {"name": "after"}, {"name": "op"}]}'},
            "debezium-avro-confluent",
        ),
    ],
)
def test_a_registry_tells_the_format(registered: dict[str, str], format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(format_guess, "_fetch_schema", lambda *request: asked.append(request) or registered)
    guess = guess_format([b"\0\0\0\0\x07rest"], "http://registry:8081/", {"bearer-auth.token": "t"})
    options = {f"{format_}.url": "http://registry:8081", f"{format_}.bearer-auth.token": "t"}
    assert (guess.format, guess.options) == (format_, options)
    assert asked == [("http://registry:8081", {"bearer-auth.token": "t"}, 7)]


def test_a_registry_that_does_not_answer_is_told() -> None:
    with pytest.raises(RegistryError, match=r"does not answer at http://127\.0\.0\.1:1/schemas/ids/7"):
        guess_format([b"\0\0\0\0\x07rest"], "http://127.0.0.1:1")
    with pytest.raises(RegistryError, match="expected a URL"):
        guess_format([b"\0\0\0\0\x07rest"], "localhost:8081")
