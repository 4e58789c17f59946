from __future__ import annotations

import contextlib

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import HEADERS
from millrace_filters.evaluate import mask
from millrace_filters.expression import Condition, Expression, Link, Term, to_text
from millrace_filters.parse import parse

Headers = list[tuple[str, bytes | None]]

text = st.text(st.one_of(st.sampled_from("&|!:()\\ \t\nab"), st.characters(codec="utf-8")), max_size=6)
any_condition = st.builds(Condition, text.filter(bool), text)
few_conditions = st.builds(Condition, st.sampled_from(["a", "b", "ü"]), st.sampled_from(["", "1", "2", "ü"]))


def expressions(conditions: st.SearchStrategy[Condition]) -> st.SearchStrategy[Expression]:
    terms = st.builds(Term, conditions, st.booleans())
    links = st.lists(st.builds(Link, st.sampled_from(["&", "|"]), terms), max_size=5)
    return st.builds(Expression, terms, links.map(tuple))


keys = st.sampled_from(["a", "b", "ü", "c", ""])
values = st.sampled_from([None, b"", b"1", b"2", "ü".encode(), b"\xfc"])
batches = st.lists(st.lists(st.tuples(keys, values), max_size=4), max_size=8)


def header_array(records: list[Headers]) -> pa.ListArray:
    return pa.array([[{"key": key, "value": value} for key, value in headers] for headers in records], HEADERS)


def keeps(expression: Expression, headers: Headers) -> bool:
    """Evaluate an expression for one record, as plainly as it can be said."""

    def holds(term: Term) -> bool:
        wanted = (term.condition.key, term.condition.value.encode())
        return (wanted in headers) is not term.negated

    kept = holds(expression.first)
    for link in expression.rest:
        kept = kept and holds(link.term) if link.operator == "&" else kept or holds(link.term)
    return kept


@given(expressions(few_conditions), batches)
def test_the_mask_says_for_every_record_what_the_expression_means(
    expression: Expression, records: list[Headers]
) -> None:
    assert mask(expression, header_array(records)).to_pylist() == [keeps(expression, headers) for headers in records]


@given(expressions(few_conditions), batches, st.integers(0, 8), st.integers(0, 8))
def test_a_slice_is_masked_as_its_part_of_the_batch(
    expression: Expression, records: list[Headers], start: int, length: int
) -> None:
    part = header_array(records).slice(min(start, len(records)), length)
    assert mask(expression, part).to_pylist() == [keeps(expression, h) for h in records[start : start + length]]


@given(expressions(any_condition))
def test_what_is_printed_parses_to_the_same(expression: Expression) -> None:
    assert parse(to_text(expression)) == expression


@given(st.text(st.one_of(st.sampled_from("&|!:()\\ ab"), st.characters()), max_size=12))
def test_any_text_is_an_expression_or_a_value_error(given_text: str) -> None:
    with contextlib.suppress(ValueError):
        expression = parse(given_text)
        assert parse(to_text(expression)) == expression


@given(st.lists(st.sampled_from(["a:1", "!b:2", "&", "|", " ", ":", "\\&", "!", "("]), max_size=9).map("".join))
def test_a_refusal_points_into_the_expression(given_text: str) -> None:
    try:
        parse(given_text)
    except ValueError as refusal:
        _, shown, caret = str(refusal).split("\n")
        assert shown == "  " + given_text
        assert caret.endswith(" ^")
        assert 2 <= caret.index("^") <= len(given_text) + 2
