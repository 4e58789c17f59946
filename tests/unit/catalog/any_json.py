"""Strategies for JSON objects whose fields drift from one type to another."""

from __future__ import annotations

import json

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "a.b", "Ü", ""])
TEXTS = st.sampled_from(
    [
        "", "x", "1", "true", "null", "2020-12-30", "2020-02-30", "0001-01-01", "2020-12-30 12:13:14",
        "2020-12-30 12:13:14.123456789", "2020-12-30 12:13:14Z", "2020-12-30 12:13:14.1+01:00", "2020-12-30T12:13:14Z",
        "2020-12-30T12:13:14.5", "9999-12-31 23:59:59.9-01:00", "12:13:14", "ü\n",
    ]
)  # fmt: skip
NUMBERS = st.sampled_from(
    [
        "0", "-0", "1", "-1", "1.5", "1e400", "-1E-5", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "123456789012345678901234567890", "9" * 38, "9" * 39, "1.10", "0.1",
    ]
)  # fmt: skip


def json_object(fields: dict[str, str]) -> str:
    """An object of fields whose values are JSON already."""
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in fields.items()) + "}"


VALUES = st.recursive(
    st.sampled_from(["null", "null", "true", "false"])
    | NUMBERS
    | (TEXTS | st.text(st.characters(codec="utf-8"), max_size=3)).map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
        | st.dictionaries(NAMES, inner, max_size=3).map(json_object)
    ),
    max_leaves=6,
)


OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4).map(json_object)
