"""Convert options from one dialect into another, line by line, by way of millrace's options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from millrace_cli.converting.dialect import Omission, OptionDialect, OptionSet, Side, TranslationStep

_ISOLATION = "properties.isolation.level"


class Verdict(StrEnum):
    """The outcome for options that belong together, from the best to the worst."""

    SAME = "same"
    TRANSLATED = "translated"
    DROPPED = Omission.DROPPED.value
    UNDECIDED = Omission.UNDECIDED.value


@dataclass(frozen=True)
class ConvertedLine:
    """Options that belong together, and what becomes of them.

    Attributes:
        before: The options as they were.
        after: The options that stand for them.
        verdict: The outcome.
        reason: A sentence on it; it may be empty for the first two outcomes.
    """

    before: Mapping[str, str] = field(repr=False)
    after: Mapping[str, str] = field(repr=False)
    verdict: Verdict
    reason: str

    @property
    def is_complete(self) -> bool:
        """True when nothing of it is lost."""
        return self.verdict in (Verdict.SAME, Verdict.TRANSLATED)


@dataclass(frozen=True)
class OptionConversion:
    """The outcome of a conversion.

    Attributes:
        lines: One for each group of options, in the order of the original.
        notes: Sentences on what differs beside the options.
    """

    lines: tuple[ConvertedLine, ...]
    notes: tuple[str, ...]

    @property
    def options(self) -> dict[str, str]:
        """All options of the other dialect."""
        return {name: value for line in self.lines for name, value in line.after.items()}

    @property
    def is_complete(self) -> bool:
        """True when nothing is dropped or left to decide."""
        return all(line.is_complete for line in self.lines)


def convert(
    original: OptionSet, source: OptionDialect, target: OptionDialect, side: Side | None = None
) -> OptionConversion:
    """Convert options into another dialect.

    Args:
        original: The options.
        source: Their dialect.
        target: The other dialect.
        side: The direction that they are for; by default what the options tell, or a read.
    """
    side = side or original.side or source.side_of(original.options) or Side.READ
    first = source.to_millrace(original.options, side)
    own = {name: value for step in first for name, value in step.after.items()}
    second = target.from_millrace(own, side)
    lines = [_line(*group) for group in _groups(first, second)]
    lines += [ConvertedLine({name: "?"}, {}, Verdict.UNDECIDED, why) for name, why in original.unreadable.items()]
    outcome = OptionConversion(tuple(lines), (*original.notes, *_default_notes(source, target, own, side)))
    return replace(outcome, notes=(*outcome.notes, *target.remarks(outcome.options, side)))


def _groups(
    first: Sequence[TranslationStep], second: Sequence[TranslationStep]
) -> Iterator[tuple[list[TranslationStep], list[TranslationStep]]]:
    """Yield the steps of both halves that share options, directly or by way of others."""
    remaining, targets = list(first), list(second)
    while remaining:
        starts, ends, names = [remaining.pop(0)], [], set[str]()
        names.update(starts[0].after)
        while joined := [step for step in targets if names & step.before.keys()]:
            ends += joined
            targets = [step for step in targets if step not in joined]
            names.update(name for step in joined for name in step.before)
            others = [step for step in remaining if names & step.after.keys()]
            remaining = [step for step in remaining if step not in others]
            starts += others
            names.update(name for step in others for name in step.after)
        yield starts, ends


def _line(first: Sequence[TranslationStep], second: Sequence[TranslationStep]) -> ConvertedLine:
    before = {name: value for step in first for name, value in step.before.items()}
    after = {name: value for step in second for name, value in step.after.items()}
    losses = {step.loss for step in (*first, *second)}
    if Omission.UNDECIDED in losses:
        verdict = Verdict.UNDECIDED
    elif Omission.DROPPED in losses:
        verdict = Verdict.DROPPED
    else:
        verdict = Verdict.SAME if not after or after == before else Verdict.TRANSLATED
    reasons = dict.fromkeys(step.reason for step in (*first, *second) if step.reason)
    return ConvertedLine(before, after, verdict, "; ".join(reasons))


def _default_notes(source: OptionDialect, target: OptionDialect, own: Mapping[str, str], side: Side) -> Iterator[str]:
    if side is Side.READ and _ISOLATION not in own and source.committed_only != target.committed_only:
        level = "read_uncommitted" if target.committed_only else "read_committed"
        other = "skips" if target.committed_only else "returns"
        yield (
            f"{target.title} {other} the records of aborted transactions by default, other than {source.title}: "
            f"isolation.level = {level} reads as before"
        )
