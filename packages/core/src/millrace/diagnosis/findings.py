"""Findings of a diagnosis, each with what to do."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The weight of a finding."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: The check, such as ``dns``, ``tls`` or ``topic``.
        target: What was checked, such as an address or the name of a topic.
        level: Whether something is wrong.
        message: What was found.
        remedy: What to do; empty where nothing is wrong.
        seen_from: The process that has checked: ``driver``, or an executor's host.
    """

    check: str
    target: str
    level: Level
    message: str
    remedy: str = ""
    seen_from: str = "driver"


@dataclass(frozen=True)
class Diagnosis:
    """All findings, in the order of the steps of a connection.

    Attributes:
        findings: The findings.
    """

    findings: Sequence[Finding]

    @property
    def is_sound(self) -> bool:
        """True when nothing would keep a query from running."""
        return all(finding.level != Level.ERROR for finding in self.findings)

    @property
    def problems(self) -> list[Finding]:
        """The findings with something wrong, the first of which mostly explains the others."""
        return [finding for finding in self.findings if finding.level != Level.OK]

    def to_json(self) -> str:
        """Return the findings as a JSON object ``{"sound": ..., "findings": [...]}``."""
        findings = [dataclasses.asdict(finding) for finding in self.findings]
        return json.dumps({"sound": self.is_sound, "findings": findings}, indent=2)


def ok(check: str, target: str, message: str) -> Finding:
    """Make a finding without a problem."""
    return Finding(check, target, Level.OK, message)


def warning(check: str, target: str, message: str, remedy: str) -> Finding:
    """Make a finding that keeps no query from running, or not for certain."""
    return Finding(check, target, Level.WARNING, message, remedy)


def error(check: str, target: str, message: str, remedy: str) -> Finding:
    """Make a finding that keeps queries from running."""
    return Finding(check, target, Level.ERROR, message, remedy)
