"""The steps of a plan as EXPLAIN shows them, in the style of the reference's planner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from millrace.contracts import ChangelogMode


@dataclass(frozen=True)
class Step:
    """An operation of a plan.

    Attributes:
        name: The operation, such as ``Calc`` or ``GroupAggregate``.
        details: What it does, such as ``where=[a > 1]``.
        mode: The kinds of rows of its result.
        inputs: The steps before it.
    """

    name: str
    details: tuple[str, ...]
    mode: ChangelogMode
    inputs: tuple[Step, ...] = ()

    @property
    def operation(self) -> str:
        """The operation without the kinds of rows of its result."""
        return f"{self.name}({', '.join(self.details)})"

    def __str__(self) -> str:
        return f"{self.name}({', '.join((*self.details, f'changelogMode={self.mode}'))})"


def steps_of(step: Step) -> Iterator[Step]:
    """Yield a step and all steps before it."""
    yield step
    for child in step.inputs:
        yield from steps_of(child)


def tree_of(step: Step) -> str:
    """Return a line for each step, the last operation first and what it reads below it."""
    return "\n".join((str(step), *_below(step, "")))


def _below(step: Step, indent: str) -> Iterator[str]:
    for number, child in enumerate(step.inputs, start=1):
        is_last = number == len(step.inputs)
        yield f"{indent}{'+- ' if is_last else ':- '}{child}"
        yield from _below(child, indent + ("   " if is_last else ":  "))
