"""Causes for which nothing comes from a query, each with its evidence and what to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class CauseKind(StrEnum):
    """The kind of a cause."""

    FAILED = "failed"
    STOPPED = "stopped"
    UNREACHABLE = "unreachable"
    STARTING = "starting"
    TOPIC_MISSING = "topic-missing"
    NOT_AUTHORIZED = "not-authorized"
    DATA_LOSS = "data-loss"
    REFUSED = "refused"
    OPEN_TRANSACTIONS = "open-transactions"
    MIN_RECORDS = "min-records"
    READ_LIMIT = "read-limit"
    ALIGNMENT = "alignment"
    FILTER = "filter"
    GROUP = "group"
    NO_NEW_OFFSETS = "no-new-offsets"
    BEHIND = "behind"


@dataclass(frozen=True)
class Cause:
    """A cause.

    Attributes:
        kind: Its kind.
        message: The cause in a sentence.
        remedy: What to do; empty where all is as it should be.
        evidence: The figures by which it was found: numbers and names.
    """

    kind: CauseKind
    message: str
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.message}"]
        lines += [f"  {name}: {_text(value)}" for name, value in self.evidence.items()]
        return "\n".join([*lines, *([f"  -> {self.remedy}"] if self.remedy else [])])


@dataclass(frozen=True)
class WhyIdle:
    """The causes for which nothing comes from a query, the one that counts most first.

    Attributes:
        causes: The causes.
    """

    causes: tuple[Cause, ...]

    @property
    def cause(self) -> Cause:
        """The cause that counts most."""
        return self.causes[0]

    def to_json(self) -> dict[str, Any]:
        """Return the causes as values of JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return "\n".join(map(str, self.causes))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {figure}" for name, figure in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
