"""Catalogs and their tables as notebooks show them."""

from __future__ import annotations

from millrace.errors import UnreachableError
from support.catalogs import WordsCatalog


class UnreachableCatalog(WordsCatalog):
    def list_tables(self) -> list[str]:
        raise UnreachableError("no broker answers at <h>:9092")


def test_a_catalog_is_a_list_of_its_tables() -> None:
    shown = WordsCatalog.from_options({"words": "letter"})._repr_html_()
    assert "<caption>1 table</caption>" in shown
    assert "<td>letter</td>" in shown


def test_a_catalog_that_cannot_be_listed_says_why() -> None:
    shown = UnreachableCatalog.from_options({})._repr_html_()
    assert shown == "<pre>no broker answers at &lt;h&gt;:9092</pre>"


def test_a_table_is_its_columns() -> None:
    shown = WordsCatalog.from_options({}).table("letter")._repr_html_()
    assert "<caption>letter</caption>" in shown
    assert "<td>letter</td><td>STRING</td><td>value</td><td>yes</td>" in shown
