"""Options of Spark's own Kafka connector."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError
from millrace_cli.converting.dialect import OptionDialect, OptionSet, Side, TranslationStep, dropped
from millrace_cli.converting.option_texts import format_json, parse_options
from millrace_cli.converting.python_options import is_python, parse_python
from millrace_cli.converting.spark_names import engine_options, from_spark, is_spark_name, to_spark


class SparkOptions(OptionDialect):
    """Options of ``format("kafka")``: JSON, lines ``name=value``, or a read or a write in Python."""

    title = "Spark's connector"

    def recognizes(self, text: str) -> bool:
        """Return whether a text holds options of Spark's connector that no other dialect has."""
        if is_python(text):
            return "millrace" not in text
        try:
            names = parse_options(text)
        except OptionsError:
            return False
        return any(is_spark_name(name) and name != "topic" for name in names)

    def parse(self, text: str) -> OptionSet:
        """Return options: see `OptionDialect.parse`."""
        return parse_python(text, ("kafka",)) if is_python(text) else OptionSet(parse_options(text))

    def format(self, options: Mapping[str, str]) -> str:
        """Return JSON, which is a dictionary of Python, too."""
        return format_json(options)

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction: only writes have ``topic``, and they have no other name of a topic."""
        return Side.WRITE if any(name.lower() == "topic" for name in options) else Side.READ

    def to_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate options into millrace's; Spark's connector ignores unknown ones."""
        engine = engine_options(options)
        known = {name: value for name, value in options.items() if name in engine or is_spark_name(name)}
        unknown = [
            dropped(name, value, "Spark's connector has no such option, and ignores it")
            for name, value in options.items()
            if name not in known
        ]
        return [*from_spark(known), *unknown]

    def from_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate options into Spark's."""
        return list(to_spark(options, side))
