"""The topics of a playground."""

from __future__ import annotations

from collections.abc import Mapping

TOPICS: Mapping[str, tuple[bytes, ...]] = {
    "orders": (
        b'{"id": 1, "name": "a", "iso": "2020-01-01T00:00:00Z", "sql": "2020-01-01 00:00:00"}',
        b'{"id": 2, "name": "b", "iso": "2020-01-02T00:00:00Z", "sql": "2020-01-02 00:00:00"}',
    ),
    "times": (b'{"id": 1}',),
    "bad": (b'{"id": 1}', b'{"id": oops'),
    "empty": (),
    "written": (),
}
"""The values of their messages; each has one partition."""
