"""Views as JSON, rendered once for all pages that are open."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from millrace_ui.query_history import Histories

MAX_AGE_S = 5.0
"""The seconds after which a view is rendered again without a new report: it says how long a query stands still."""


class RenderedViews:
    """The texts of views, each rendered once for each version of the histories.

    A page asks after each report, and a driver of a query with 1,000 partitions has better things to do than to render
    the same for each of them.

    Args:
        histories: The histories that the views show.
    """

    def __init__(self, histories: Histories) -> None:
        self._histories = histories
        self._rendered: dict[str, tuple[int, float, str | None]] = {}
        self._lock = threading.Lock()

    def text(self, view: str, make: Callable[[], Any]) -> str | None:
        """Return a view as JSON; None where there is nothing to show.

        Args:
            view: The key of the view.
            make: Makes the values of JSON; None where there is nothing to show.
        """
        with self._lock:
            version, now = self._histories.version, time.monotonic()
            self._rendered = {
                key: one for key, one in self._rendered.items() if one[0] == version and now - one[1] < MAX_AGE_S
            }
            if view not in self._rendered:
                content = make()
                self._rendered[view] = version, now, None if content is None else _json(content)
            return self._rendered[view][2]


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
