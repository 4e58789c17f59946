"""Options of millrace itself, which has those of Spark's own connector, too."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError
from millrace.kafka.property_translation import problem_with
from millrace_cli.converting.client_names import unknown_property
from millrace_cli.converting.client_properties import PROPERTIES
from millrace_cli.converting.declared_options import declared
from millrace_cli.converting.dialect import (
    Omission,
    OptionDialect,
    OptionSet,
    Side,
    TranslationStep,
    dropped,
    undecided,
)
from millrace_cli.converting.option_texts import format_json, parse_options
from millrace_cli.converting.python_options import is_python, parse_python
from millrace_cli.converting.spark_names import engine_options, from_spark


class MillraceOptions(OptionDialect):
    """Options of ``format("millrace")``: JSON, lines ``name=value``, or a read or a write in Python."""

    title = "millrace"
    committed_only = True

    def recognizes(self, text: str) -> bool:
        """Return whether a text holds options of millrace's names."""
        if is_python(text):
            return 'format("millrace")' in text or "format('millrace')" in text
        try:
            return any(name.startswith(PROPERTIES) for name in parse_options(text))
        except OptionsError:
            return False

    def parse(self, text: str) -> OptionSet:
        """Return options: see `OptionDialect.parse`."""
        return parse_python(text, ("millrace",)) if is_python(text) else OptionSet(parse_options(text))

    def format(self, options: Mapping[str, str]) -> str:
        """Return JSON, which is a dictionary of Python, too."""
        return format_json(options)

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction if there are options of sources or of sinks alone."""
        reads = any(name.startswith("scan.") for name in options)
        if reads == any(name.startswith("sink.") for name in options):
            return None
        return Side.READ if reads else Side.WRITE

    def to_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate Spark's names into millrace's."""
        return from_spark(options)

    def from_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Check options: what millrace ignores is dropped, what it refuses is left to decide."""
        steps = [_step(name, value) for name, value in options.items()]
        usable = {name: value for step in steps for name, value in step.after.items()}
        problems = _problems(usable, side)
        return [_checked(step, problems) for step in steps]

    def remarks(self, options: Mapping[str, str], side: Side) -> tuple[str, ...]:
        """Return what millrace lacks: see `OptionDialect.remarks`."""
        return _problems(options, side)


def _step(name: str, value: str) -> TranslationStep:
    own = name.removeprefix(PROPERTIES)
    if own == name or declared(name) is not None:
        return TranslationStep({name: value}, {name: value})
    unknown = unknown_property(own)
    if unknown is not None:
        return undecided(name, value, unknown)
    problem = problem_with(own, value)
    return TranslationStep({name: value}, {name: value}) if problem is None else dropped(name, value, problem)


def _checked(step: TranslationStep, problems: tuple[str, ...]) -> TranslationStep:
    reasons = [problem for problem in problems if any(repr(name) in problem for name in step.after)]
    return TranslationStep(step.before, loss=Omission.UNDECIDED, reason="; ".join(reasons)) if reasons else step


def _problems(options: Mapping[str, str], side: Side) -> tuple[str, ...]:
    from millrace.configuration.build import configure_sink, configure_source

    configure = configure_source if side is Side.READ else configure_sink
    engine = engine_options(options)
    try:
        configure({name: value for name, value in options.items() if name not in engine}, warns=False)
    except OptionsError as error:
        return error.problems
    return ()
