from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Payloads

ITEMS = [b"a", None, b"", "ü".encode(), b"\xff\x00"]


def test_a_list_becomes_an_array() -> None:
    array = Payloads(ITEMS).to_array()
    assert array.type == pa.binary()
    assert array.to_pylist() == ITEMS


def test_an_array_becomes_a_list_of_bytes_and_none() -> None:
    items = Payloads(pa.array(ITEMS, pa.binary())).to_list()
    assert items == ITEMS
    assert {type(item) for item in items} == {bytes, type(None)}


def test_each_form_is_made_once_and_then_kept() -> None:
    payloads = Payloads(ITEMS)
    assert payloads.to_list() is ITEMS
    assert payloads.to_array() is payloads.to_array()
    other = Payloads(pa.array(ITEMS, pa.binary()))
    assert other.to_list() is other.to_list()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.large_binary(), pa.binary_view()])
def test_other_arrays_of_text_or_bytes_are_taken_as_binary(kind: pa.DataType) -> None:
    payloads = Payloads(pa.array([b"a", None, "ü".encode()], pa.binary()).cast(kind))
    assert payloads.to_array().type == pa.binary()
    assert payloads.to_list() == [b"a", None, "ü".encode()]


def test_a_slice_of_an_array_is_its_part() -> None:
    assert Payloads(pa.array(ITEMS, pa.binary())[1:3]).to_list() == [None, b""]


@pytest.mark.parametrize("source", [[], pa.array([], pa.binary())])
def test_there_may_be_none_at_all(source: object) -> None:
    payloads = Payloads(source)
    assert (len(payloads), list(payloads.to_list()), payloads.to_array().to_pylist()) == (0, [], [])


@pytest.mark.parametrize("source", [ITEMS, pa.array(ITEMS, pa.binary())])
def test_the_length_needs_no_conversion(source: object) -> None:
    assert len(Payloads(source)) == 5


@pytest.mark.parametrize("source", [ITEMS, pa.array(ITEMS, pa.binary()), pa.array([b"xyz", *ITEMS], pa.binary())[1:]])
def test_the_size_is_that_of_all_payloads(source: object) -> None:
    assert Payloads(source).size == 5


def test_a_size_that_is_known_is_not_counted() -> None:
    assert Payloads(ITEMS, 7).size == 7


def test_nulls_are_as_many_as_asked_for() -> None:
    assert list(Payloads.nulls(3).to_list()) == [None] * 3
    assert Payloads.nulls(3).to_array().null_count == 3


def test_the_text_shows_no_payload() -> None:
    assert repr(Payloads([b"hush"])) == "Payloads(1)"
