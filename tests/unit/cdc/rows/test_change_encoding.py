from __future__ import annotations

import pytest

from millrace.errors import MalformedMessageError
from millrace_catalog.inference import FormatOptions
from millrace_cdc.rows.change_encoding import TypedRowReader, encode_change


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b'["t","c",null,{"id":1,null,null]', "no JSON object"),
        (b'["t","c",null,{"id":1},{"id":2},null,null]', "no JSON object"),
        (b'["t","x",null,{"id":1},null,null]', "operation is 'x'"),
        (b'[null,"c",null,{"id":1},null,null]', "table is None"),
        (b'["t","c",null,[1],null,null]', "no JSON object"),
        (b'["t","d",null,{"id":1},null,null]', "lacks a row"),
        (b'["t","c",null,{"id":1e999999999999999999999},null,null]', "no JSON object"),
    ],
)
def test_a_change_of_a_source_that_is_none_is_malformed(payload: bytes, problem: str) -> None:
    with pytest.raises(MalformedMessageError, match=problem):
        TypedRowReader("changes", FormatOptions()).parse(payload)


def test_an_update_without_its_old_row_is_a_change() -> None:
    change = TypedRowReader("changes", FormatOptions()).parse(encode_change("t", "u", None, {"id": 1}))
    assert change.rows == ((None, {"id": 1}),)
