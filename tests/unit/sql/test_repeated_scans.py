"""Queries of which Spark reads a table in several places get no pushed filters."""

from __future__ import annotations

import pytest

from millrace_sql.planner.repeated_scans import reads_scans_once


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM a WHERE p = 1",
        "SELECT x FROM (SELECT * FROM a) AS q WHERE p = 1 ORDER BY x LIMIT 3",
        "SELECT * FROM a JOIN b ON a.id = b.id JOIN (SELECT * FROM c) AS d USING (id)",
        "SELECT * FROM a WHERE p = 1 UNION ALL (SELECT * FROM b WHERE p = 2)",
        "SELECT count(*) FROM a GROUP BY p HAVING count(*) > 1",
    ],
)
def test_tables_are_read_in_one_place(sql: str) -> None:
    assert reads_scans_once(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH q AS (SELECT * FROM a) SELECT * FROM q WHERE p = 1 UNION ALL SELECT * FROM q WHERE p = 2",
        "SELECT * FROM a WHERE id IN (SELECT id FROM b)",
        "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
        "SELECT (SELECT max(x) FROM b) FROM a",
        "SELECT * FROM a JOIN c ON (SELECT max(x) > 1 FROM b)",
        "SELECT * FROM a JOIN c ON ((SELECT x FROM b UNION SELECT x FROM d))",
        "SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) AS q",
        "SELECT nothing that can be parsed (",
    ],
)
def test_tables_may_be_read_in_several_places(sql: str) -> None:
    assert not reads_scans_once(sql)
