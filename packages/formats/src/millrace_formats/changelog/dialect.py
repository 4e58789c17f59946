"""The messages of one tool, as options say that they are to be read."""

from __future__ import annotations

from dataclasses import dataclass

from millrace_formats.changelog.layout import Layout
from millrace_formats.changelog.name_filter import NameFilter


@dataclass(frozen=True)
class Dialect:
    """What is to be known of a tool's messages.

    Attributes:
        layout: How they are laid out.
        has_payload: Whether the change is in the field ``payload``, beside its schema; None where it never is.
        names: Which of them are read; None for all.
    """

    layout: Layout
    has_payload: bool | None = None
    names: NameFilter | None = None
