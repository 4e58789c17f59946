"""Tables for people, as text and as HTML."""

from __future__ import annotations

from millrace.display import html_table, html_text, text_table


def test_numbers_stand_on_the_right_and_missing_values_are_a_dash() -> None:
    table = text_table(("topic", "lag"), [("orders", 1234), ("audit", 5)])
    assert table.splitlines() == ["topic     lag", "orders  1,234", "audit       5"]
    assert text_table(("a",), [(None,), (1.25,)]).splitlines() == ["a", "-", "1.2"]


def test_html_has_no_markup_of_a_value() -> None:
    table = html_table(("topic",), [("<script>alert(1)</script>",)], "a & b")
    assert "<script" not in table
    assert "&lt;script&gt;" in table
    assert "<caption>a &amp; b</caption>" in table
    assert html_text("<a>\n  b") == "<pre>&lt;a&gt;\n  b</pre>"
