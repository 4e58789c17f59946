"""Plans that are put together, as text and as JSON."""

from __future__ import annotations

import json

from millrace.plans.model import JobPlan
from millrace.plans.parts import (
    PlannedOption,
    PlannedPermission,
    PlannedRange,
    PlannedRead,
    PlannedWrite,
    RowCount,
    TimeSpan,
)

SHARED = PlannedPermission("topic", "a", "READ", is_allowed=False)
READ = PlannedRead(
    "a",
    "stream",
    "at latest-offset",
    ranges=(PlannedRange("a", 0, 3, 1_005, remaining=7),),
    splits=((PlannedRange("a", 0, 3, 1_005),),),
    tasks=1,
    messages=RowCount(1_002, False, "compacted"),
    rows=RowCount(None, False, "changes"),
    span=TimeSpan(0, 1_500, is_exact=False),
)
PLAN = JobPlan(
    reads=(READ,),
    permissions=(SHARED,),
    options=(PlannedOption("a.b", "1", "default"), PlannedOption("c.d", "2", "option", "as e")),
    problems=("it is wrong",),
)


def test_the_text_has_what_counts():
    text = str(PLAN)
    for part in (
        "Read of a: the next micro-batch, 1 task\n",
        "messages: at most 1,002 (compacted)",
        "rows: an unknown number (changes)",
        "a-0 [3, 1005): 1,002 offsets, 7 more for later micro-batches",
        "1970-01-01 00:00:00.000+00:00 to 1970-01-01 00:00:01.500+00:00, by the first",
        "READ on topic a: NOT ALLOWED",
        "c.d = 2 (option: as e)",
        "Problems:\n  it is wrong",
    ):
        assert part in text
    assert "a.b" not in text


def test_plans_are_added_without_repetition():
    both = PLAN + JobPlan(writes=(PlannedWrite("b", "none"),), permissions=(SHARED,))
    assert (len(both.permissions), both.tasks) == (1, 1)
    assert "Write to b: none, not looked up" in str(both)


def test_json_has_a_stable_shape():
    content = json.loads(json.dumps(PLAN.to_json()))
    assert list(content) == ["reads", "writes", "creates", "permissions", "options", "notes", "problems"]
    assert list(content["reads"][0]) == [
        "name", "mode", "start", "ranges", "splits", "tasks", "messages", "rows", "span", "columns",
        "filters",
    ]  # fmt: skip
    assert content["reads"][0]["ranges"][0] == {"topic": "a", "partition": 0, "start": 3, "end": 1005, "remaining": 7}
