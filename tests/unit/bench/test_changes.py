"""Changes of many tables."""

from __future__ import annotations

import json

from bench.changes import TABLES, change_of_tables, with_new_columns


def test_new_columns_are_in_new_rows_alone():
    changes = [json.loads(with_new_columns(change_of_tables(number * TABLES), 2)) for number in range(10)]
    for change in changes:
        assert "new_0" not in (change["before"] or {})
        assert change["op"] == "d" or (change["after"]["new_0"], change["after"]["new_1"]) == (0, 1)
    assert {change["op"] for change in changes} == {"c", "u", "d"}
