"""Messages that fit the columns; the fast check must agree with the exact one."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.errors import OptionsError, SchemaError, SchemaMismatchError
from millrace.options.parser import OptionParser
from millrace_catalog.evolution.evolving_json.fit_prefilter import FitPrefilter
from millrace_catalog.evolution.evolving_json.format import EvolvingJsonFormat
from millrace_catalog.evolution.evolving_json.options import EvolvingJsonOptions
from millrace_catalog.evolution.evolving_json.schema_guard import SchemaGuard
from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.types import parse_schema
from millrace_catalog.types.arrow import to_arrow_schema

COLUMNS = (
    "id BIGINT, n DOUBLE, ok BOOLEAN, text STRING, day DATE, `at` TIMESTAMP(6), big DECIMAL(21, 0), l ARRAY<BIGINT>"
)
FITTING = {
    "id": 1,
    "n": 1,
    "ok": True,
    "text": [1],
    "day": "2020-12-30",
    "at": "2020-12-30 12:13:14",
    "big": 5,
    "l": [1],
}


def options(columns: str = COLUMNS, **json_options: str) -> EvolvingJsonOptions:
    given = {f"json-evolving.json.{name.replace('_', '-')}": value for name, value in json_options.items()}
    parser = OptionParser("test", {**given, **({"json-evolving.columns": columns} if columns else {})})
    found = parser.take(EvolvingJsonOptions, "json-evolving.")
    parser.finish()
    assert found is not None
    return found


def decode(given: EvolvingJsonOptions, *messages: Any) -> Any:
    payloads = [each if each is None or isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    schema = to_arrow_schema(parse_schema(COLUMNS if given.columns else "k STRING"))
    return EvolvingJsonFormat(pickle.loads(pickle.dumps(given))).decoder(schema).decode(Payloads(payloads))


def test_messages_that_fit_are_decoded() -> None:
    nulls = dict.fromkeys(FITTING)
    decoded = decode(options(), FITTING, nulls, {}, None, b"", {"new": None}, {"big": 10**20, "n": -1e300, "l": []})
    assert decoded.rows.num_rows == 5
    assert decoded.rows.column("text").to_pylist()[0] == "[1]"


def test_malformed_messages_are_left_to_json() -> None:
    decoded = decode(options(), FITTING, b"{", b"[1]", b"\xff", b'{"text": "\xff"}')
    assert [error.index for error in decoded.errors] == [1, 2, 3, 4]
    lenient = decode(options(**{"ignore-parse-errors": "true"}), b"{", FITTING)
    assert (lenient.rows.num_rows, lenient.errors) == (1, ())


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"new": 1, "and": {"a": 1}}, "new BIGINT is new, and STRING is new"),
        ({"id": 1.0}, "id is BIGINT and must be DOUBLE"),
        ({"id": 2**63}, "id is BIGINT and must be DECIMAL(19, 0)"),
        ({"n": 2**70}, "n is DOUBLE and must be STRING"),
        ({"ok": 1}, "ok is BOOLEAN and must be STRING"),
        ({"day": "2020-02-30"}, "day is DATE and must be STRING"),
        ({"at": "2020-12-30 12:13:14.1234567"}, "at is TIMESTAMP(6) and must be TIMESTAMP(9)"),
        ({"at": "2020-12-30 12:13:14Z"}, "must be TIMESTAMP_LTZ(6)"),
        ({"big": 10**25}, "big is DECIMAL(21, 0) and must be DECIMAL(26, 0)"),
        ({"l": [1, 1.5]}, "l is ARRAY<BIGINT> and must be ARRAY<DOUBLE>"),
        ({"l": 1}, "l is ARRAY<BIGINT> and must be STRING"),
    ],
    ids=str,
)
def test_a_message_that_does_not_fit_ends_the_read(message: dict[str, Any], reason: str) -> None:
    with pytest.raises(SchemaMismatchError) as caught:
        decode(options(), FITTING, b"{", message, FITTING)
    assert caught.value.index == 2
    assert reason in caught.value.reason


def test_each_row_of_an_array_must_fit() -> None:
    decoded = decode(options(), [FITTING, {"id": 2}], FITTING)
    assert decoded.rows.column("id").to_pylist() == [1, 2, 1]
    with pytest.raises(SchemaMismatchError, match="new BIGINT is new") as caught:
        decode(options(), FITTING, [FITTING, {"new": 1}])
    assert caught.value.index == 1


def test_fixed_types_never_change() -> None:
    given = options(**{"infer-schema.fixed-types": "id BIGINT"})
    decoded = decode(given, {"id": "no number"}, {"id": "7"})
    assert [error.index for error in decoded.errors] == [0]


def test_a_first_key_is_waited_for() -> None:
    assert decode(options(""), None, b"", {}, {"a": None}).rows.column("k").null_count == 4
    for key, reason in (
        ({"a": 1}, "a BIGINT is new"),
        (b"null", "no message had a key"),
        (b"\xff", "is not a JSON object"),
    ):
        with pytest.raises(SchemaMismatchError) as caught:
            decode(options(""), None, key)
        assert (caught.value.index, reason in caught.value.reason) == (1, True)


def test_fields_that_are_always_null_are_in_doubt_once() -> None:
    columns = parse_schema(COLUMNS)
    watch = SchemaGuard(columns, JsonSchemaOptions())
    watch.check([b'{"new": null}'] * 3)
    assert watch._prefilter.uncertain([b'{"new": null, "id": 1}', b'{"new": 1}']) == [1]
    assert FitPrefilter(columns.types, JsonSchemaOptions()).uncertain([b'{"new": null}']) == [0]


def test_wrong_options_are_named_as_users_write_them() -> None:
    with pytest.raises(OptionsError, match=r"unknown option 'json.bogus'"):
        options(bogus="1")


def test_it_does_not_write() -> None:
    with pytest.raises(SchemaError, match="only reads; write with format 'json'"):
        EvolvingJsonFormat(options()).encoder(pa.schema([("a", pa.int64())]))


def test_a_fixed_column_that_no_message_had_so_far_is_new_whatever_it_holds() -> None:
    fixed = options("`a.b` BIGINT", **{"infer-schema.nested": "flatten", "infer-schema.fixed-types": "a DECIMAL(5, 2)"})
    watch = SchemaGuard(parse_schema("`a.b` BIGINT"), fixed.parsed.inference)
    watch.check([b'{"a.b": 1}'])
    for message in (b'{"a": []}', b'{"a": null}', b'{"a": {"b": 1}}'):
        with pytest.raises(SchemaMismatchError, match=r"a DECIMAL\(5, 2\) is new"):
            watch.check([message])
