from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from millrace.contracts import DeadLetter


@pytest.fixture
def bad() -> Callable[..., list[DeadLetter]]:
    """Malformed messages with these properties."""

    def make(*properties: dict[str, Any]) -> list[DeadLetter]:
        usual = {
            "topic": "orders",
            "partition": 3,
            "timestamp": None,
            "key": None,
            "value": b"",
            "headers": (),
            "part": "value",
            "format": "json",
            "reason": "no good",
        }
        return [DeadLetter(**{**usual, "offset": 100 + index, **given}) for index, given in enumerate(properties)]

    return make
