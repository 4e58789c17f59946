"""Files of jobs that ``millrace plan`` shows, which packages plan by entry points.

A package plans files by an entry point of the group ``millrace.plans``: its name is the ending of the files' names, its
value the ``module:function`` of a function that takes a `PlannedFile`, writes the plan, and returns whether a run would
end well.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from millrace_cli.errors import CommandError

PLANS_GROUP = "millrace.plans"


@dataclass(frozen=True)
class PlannedFile:
    """A file of a job, and how to plan it.

    Attributes:
        path: The file.
        settings: Values of ``${NAME}`` in it.
        secrets: A file with values of ``${secret_values.NAME}``.
        checkpoint: The location of the checkpoint that a run would have; None for the default.
        conf: Settings of Spark.
        as_json: Whether to write JSON.
    """

    path: Path
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Path | None = None
    checkpoint: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    as_json: bool = False


def plan_file(file: PlannedFile) -> bool:
    """Write the plan of a file, and return whether a run would end well.

    Raises:
        CommandError: No installed package plans such files.
        MillraceError: The file is wrong, or something that it names cannot be asked.
    """
    installed = {entry_point.name: entry_point for entry_point in importlib.metadata.entry_points(group=PLANS_GROUP)}
    ending = file.path.suffix.removeprefix(".").lower()
    if ending not in installed:
        known = ", ".join(f".{name}" for name in sorted(installed)) or "none"
        raise CommandError(f"{file.path} is no job that can be planned: files that can end with {known}")
    plan = cast(Callable[[PlannedFile], bool], installed[ending].load())
    return plan(file)
