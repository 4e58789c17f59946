"""Stars within expressions of rewritten queries: the columns that a user sees, and no others."""

from __future__ import annotations

import pytest

from millrace_sql.errors import SqlError
from support.planned_sql import plan


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id, HASH(*) FROM log WHERE HASH(l.*) > 1".replace("log", "log AS l"), "HASH(`l`.`id`, `l`.`v`)"),
        ("SELECT id, TO_JSON(STRUCT(*)) FROM log", "TO_JSON(STRUCT(`log`.`id`, `log`.`v`))"),
        ("SELECT id, HASH(* EXCEPT (id)) FROM log", "HASH(`log`.`v`)"),
        ("SELECT v, COUNT(log.*) FROM log GROUP BY v", "(`log`.`id`) IS NULL AND NOT (`log`.`v`) IS NULL"),
        ("SELECT v, COUNT(DISTINCT *) FROM log GROUP BY v", "TO_JSON(STRUCT(`log`.`id` AS c0, `log`.`v` AS c1))"),
        ("SELECT v, COUNT(DISTINCT *) FROM plain GROUP BY v", "COLLECT_SET(CASE WHEN "),
        ("SELECT v, MIN_BY(HASH(*), id) FROM plain GROUP BY v", "HASH(`plain`.`id`, `plain`.`name`, `plain`.`v`)"),
        ("SELECT HASH(*), COUNT(*) FROM log GROUP BY HASH(*)", "GROUP BY HASH(`log`.`id`, `log`.`v`)"),
        (
            "SELECT HASH(*) FROM users AS u JOIN names ON u.name = names.name",
            "`u`.`wide`, `names`.`name`, `names`.`title`)",
        ),
    ],
)
def test_a_star_within_an_expression_has_no_hidden_columns(query: str, expected: str) -> None:
    planned = plan(query)

    assert expected in (planned.sql + "".join(stage.query.sql("spark") for stage in planned._stages))


def test_stars_whose_columns_are_not_known_are_refused() -> None:
    with pytest.raises(SqlError, match=r"the columns of HASH\(\*\) are not known .*: name them for the \*"):
        plan("SELECT id, HASH(*) FROM users JOIN names USING (name)")

    plan("SELECT id, HASH(id, name, title) FROM users JOIN names USING (name)")
