"""References in options and their values."""

from __future__ import annotations

import pytest

from millrace.options.references import ReferenceValues, UnresolvedReferenceError


def values(secret_values=None, variables=None) -> ReferenceValues:
    return ReferenceValues(secret_values or {}, variables or {}, lambda name, is_secret: f"give {name} ({is_secret})")


def test_references_are_replaced(monkeypatch):
    monkeypatch.setenv("REGION", "eu")
    references = values({"token": "t0p"}, {"topic": "orders"})
    assert references.resolve("${topic}-${env:REGION}") == ("orders-eu", False)
    assert references.resolve("x${secret_values.token}") == ("xt0p", True)
    assert references.resolve("$topic {topic} $") == ("$topic {topic} $", False)


def test_a_value_is_not_resolved_again():
    assert values({}, {"a": "${b}", "b": "1"}).resolve("${a}").text == "${b}"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("${topik}", "'${topik}' has no value: did you mean '${topic}'? Or give topik (False)"),
        ("${secret_values.x}", "'${secret_values.x}' has no value: give x (True)"),
        ("${env:NO_SUCH_NAME}", "'${env:NO_SUCH_NAME}' has no value: set the environment variable NO_SUCH_NAME"),
    ],
)
def test_a_reference_without_a_value_is_told_with_what_to_do(text, advice):
    with pytest.raises(UnresolvedReferenceError) as wrong:
        values({"token": "t0p"}, {"topic": "orders"}).resolve(text)
    assert str(wrong.value) == advice


def test_no_repr_shows_a_secret():
    references = values({"token": "t0p"})
    assert "t0p" not in repr(vars(references))
