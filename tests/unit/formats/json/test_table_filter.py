"""Messages of some of the tables of a topic."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Decoded, Payloads
from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace_formats.json import JsonFormat, JsonOptions

SCHEMA = pa.schema([("n", pa.int64())])


def decode(payloads: list[bytes | None], fields: tuple[str, ...], include: str, **options: Any) -> Decoded:
    options |= {"table_fields": fields, "table_include": include}
    return JsonFormat(JsonOptions(**options)).decoder(SCHEMA).decode(Payloads(payloads))


def selected(payloads: list[bytes | None], fields: tuple[str, ...], include: str, **options: Any) -> list[int]:
    decoded = decode(payloads, fields, include, **options)
    assert not decoded.errors, decoded.errors
    indices = range(len(payloads)) if decoded.message_index is None else decoded.message_index.to_pylist()
    assert [payloads[index] for index in indices] == [p for p in payloads if p and b'"n": 1' in p]
    return decoded.rows.column(0).to_pylist()


@pytest.mark.parametrize(
    ("fields", "include", "own", "other"),
    [
        (("t",), "a", b'"t": "a"', b'"t": "b"'),
        (("t",), "a", b'"t": "a"', b'"t": "ab"'),
        (("db", "t"), r"x\.(a|b)", b'"t": "b", "db": "x"', b'"t": "b", "db": "y"'),
        (("col 1", "class"), r"\Qa.b\E", b'"col 1": "a", "class": "b"', b'"col 1": "b", "class": "a"'),
        (("t",), "7", b'"t": 7', b'"t": 8'),
        (("t",), "1[.]5", b'"t": 1.50', b'"t": "1.50"'),
        (("t",), "true", b'"t": true', b'"t": false'),
        (("t",), "a", b'"t": "b", "t": "a"', b'"t": "a", "t": "b"'),
        (("t",), "ü", '"t": "ü"'.encode(), b'"t": "u"'),
    ],
)
def test_messages_of_other_tables_give_no_rows(fields: tuple[str, ...], include: str, own: bytes, other: bytes) -> None:
    # What other tables hold does not matter
    payloads = [b'{"n": 1, %s}' % own, b'{"n": "text", %s}' % other, None, b" ", b'{%s, "n": 1}' % own]
    assert selected(payloads, fields, include) == [1, 1]
    # The lenient parser reads control characters
    payloads = [b'{"x": "\t", "n": 1, %s}' % own, b'{"x": "\t", "n": [], %s}' % other]
    assert selected(payloads, fields, include) == [1]


@pytest.mark.parametrize("bad", [b'{"n": 2}', b'{"t": null}', b'{"t": ""}', b'{"t": {}}', b'{"x": "\t", "t": []}'])
def test_a_message_without_a_table_is_malformed(bad: bytes) -> None:
    payloads = [b'{"t": "a", "n": "text"}', bad, b'{"t": "a", "n": 1}', b"7", b"{"]
    decoded = decode(payloads, ("t",), "a")
    assert [error.index for error in decoded.errors] == [0, 1, 3, 4]
    assert "expected a value, which names the table of the message" in decoded.errors[1].reason
    assert decoded.rows.column(0).to_pylist() == [1]

    assert selected([bad, b'{"t": "a", "n": 1}'], ("t",), "a", ignore_parse_errors=True) == [1]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"json.decode.parser-table-id.fields": "t"}, "requires table.include"),
        ({"json.table.include": "a"}, "table.include requires decode.parser-table-id.fields"),
        ({"json.decode.parser-table-id.fields": "t,,u", "json.table.include": "a"}, "names of fields separated by ','"),
        ({"json.decode.parser-table-id.fields": "t", "json.table.include": "("}, "expected a regular expression"),
    ],
)
def test_options_that_have_no_effect_alone_are_refused(given: dict[str, str], problem: str) -> None:
    parser = OptionParser("read", given)
    parser.take(JsonOptions, "json.")
    with pytest.raises(OptionsError, match=problem):
        parser.finish()
