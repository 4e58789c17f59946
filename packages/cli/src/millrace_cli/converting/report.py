"""Show a conversion line by line, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from millrace.options.secrets import masked_value, without_secrets
from millrace.wording import counted
from millrace_cli.converting.conversion import OptionConversion, Verdict
from millrace_cli.tables import new_table, printable, render

_COLOURS = {Verdict.SAME: "green", Verdict.TRANSLATED: "green", Verdict.DROPPED: "yellow", Verdict.UNDECIDED: "red"}


def to_lines(conversion: OptionConversion, *, coloured: bool) -> Iterator[str]:
    """Yield a table with a line for each group of options, its sums, and notes."""
    table = new_table(coloured=coloured)
    for heading in ("", "from", "to", "because"):
        table.add_column(heading, overflow="fold")
    for line in conversion.lines:
        verdict = Text(line.verdict, _COLOURS[line.verdict])
        table.add_row(verdict, _shown(line.before), _shown(line.after), Text(printable(without_secrets(line.reason))))
    yield from render(table, coloured=coloured)
    verdicts = [line.verdict for line in conversion.lines]
    sums = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in Verdict)
    yield f"{counted(len(verdicts), 'line')}: {sums}"
    yield from (f"note: {printable(without_secrets(note))}" for note in conversion.notes)


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """Return options for people, without secrets."""
    return {name: masked_value(name, value) for name, value in options.items()}


def has_secrets(options: Mapping[str, str]) -> bool:
    """Return whether an option holds a secret, judged by its name, or by a URL or parameters in its value."""
    return masked(options) != dict(options)


def _shown(options: Mapping[str, str]) -> Text:
    return Text("\n".join(f"{printable(name)} = {printable(value)}" for name, value in masked(options).items()))
