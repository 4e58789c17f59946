"""The plan of a job."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from typing import Any

from millrace.display import html_text
from millrace.plans import text
from millrace.plans.parts import PlannedCreation, PlannedOption, PlannedPermission, PlannedRead, PlannedWrite


@dataclass(frozen=True)
class JobPlan:
    """The work of a job, as far as it can be told before the job runs.

    Attributes:
        reads: What it reads.
        writes: What it writes.
        creates: What it would create.
        permissions: What its user needs to be allowed.
        options: Its resolved configuration, with the origin of each value.
        notes: Sentences about what is worth a look.
        problems: What would end a run.
    """

    reads: tuple[PlannedRead, ...] = ()
    writes: tuple[PlannedWrite, ...] = ()
    creates: tuple[PlannedCreation, ...] = ()
    permissions: tuple[PlannedPermission, ...] = ()
    options: tuple[PlannedOption, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = field(default=())

    @property
    def tasks(self) -> int:
        """The number of tasks that read."""
        return sum(read.tasks for read in self.reads)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as values of JSON."""
        return dataclasses.asdict(self)

    def __add__(self, other: JobPlan) -> JobPlan:
        """Return the plan of both together."""
        fields = (field.name for field in dataclasses.fields(JobPlan))
        return JobPlan(**{name: _joined(getattr(self, name), getattr(other, name)) for name in fields})

    def __str__(self) -> str:
        lines = (
            *itertools.chain.from_iterable(map(text.read_lines, self.reads)),
            *itertools.chain.from_iterable(map(text.write_lines, self.writes)),
            *text.section("Would be created", map(text.creation_line, self.creates)),
            *text.section("Permissions needed", map(text.permission_line, self.permissions)),
            *text.section("Options that are not the default", text.option_lines(self.options)),
            *text.section("Notes", self.notes),
            *text.section("Problems", self.problems),
        )
        return "\n".join(lines).strip("\n")

    def _repr_html_(self) -> str:
        """Return the text for a notebook."""
        return html_text(str(self))


def _joined(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*first, *second)))
