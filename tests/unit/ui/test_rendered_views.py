from __future__ import annotations

import json

from millrace_ui.query_history import Histories
from millrace_ui.rendered_views import RenderedViews
from support.query_reports import report


class _View:
    """Counts how often it is made."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> dict[str, int]:
        self.made += 1
        return {"made": self.made}


def test_a_view_is_rendered_once_for_each_report_however_many_pages_ask() -> None:
    histories, view = Histories(), _View()
    rendered = RenderedViews(histories)
    assert [rendered.text("query", view) for _ in range(20)] == ['{"made":1}'] * 20
    histories.add(report(3))
    assert [rendered.text("query", view) for _ in range(20)] == ['{"made":2}'] * 20


def test_views_are_told_apart() -> None:
    rendered = RenderedViews(Histories())
    assert rendered.text("one", lambda: {"name": "é"}) == '{"name":"é"}'
    assert rendered.text("other", lambda: None) is None
    assert json.loads(rendered.text("one", lambda: None) or "") == {"name": "é"}
