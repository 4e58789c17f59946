"""Files of properties of Kafka's Java clients."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.kafka.java_properties import CONSUMER_PROPERTIES, JAVA_PROPERTIES, PRODUCER_PROPERTIES
from millrace_cli.converting.client_properties import (
    properties_from_millrace,
    properties_to_millrace,
    without_counterpart,
)
from millrace_cli.converting.dialect import OptionDialect, OptionSet, Side, TranslationStep, dropped
from millrace_cli.converting.option_texts import format_properties, is_json, parse_properties
from millrace_cli.converting.python_options import is_python
from millrace_cli.converting.serializers import ClassOption, key_class_to_millrace

_VALUES = {
    Side.READ: ClassOption("value.deserializer", "deserializer"),
    Side.WRITE: ClassOption("value.serializer", "serializer"),
}
_KEYS = {Side.READ: "key.deserializer", Side.WRITE: "key.serializer"}

_IN_THE_PROGRAM = {
    "topic": "the program names its topics: consumer.subscribe(...), or the topic of each ProducerRecord",
    "topic-pattern": "the program gives it: consumer.subscribe(Pattern.compile(...))",
    "topic-partitions": "the program gives them: consumer.assign(...)",
    "key.format": "name the class by key.deserializer or key.serializer",
    "scan.bounded.mode": "the program ends when it has read enough",
    "connector": "the program reads and writes the rows of a table by their keys",
}


class JavaProperties(OptionDialect):
    """Lines ``name=value`` as Java's clients and Kafka's own tools read them."""

    title = "Kafka's Java client"

    def recognizes(self, text: str) -> bool:
        """Return whether a text holds properties of Kafka's clients."""
        if is_json(text) or is_python(text):
            return False
        return not JAVA_PROPERTIES.keys().isdisjoint(parse_properties(text))

    def parse(self, text: str) -> OptionSet:
        """Return the properties of a file: see `OptionDialect.parse`."""
        return OptionSet(parse_properties(text))

    def format(self, options: Mapping[str, str]) -> str:
        """Return lines for a file."""
        return format_properties(options)

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction if there are properties of consumers or of producers alone."""
        reads, writes = (not names.isdisjoint(options) for names in (CONSUMER_PROPERTIES, PRODUCER_PROPERTIES))
        if reads == writes:
            return None
        return Side.READ if reads else Side.WRITE

    def to_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate properties into options."""
        rest = dict(options)
        steps = [*key_class_to_millrace(rest, _KEYS[side]), *_VALUES[side].to_millrace(rest)]
        other = Side.WRITE if side is Side.READ else Side.READ
        others = [name for name in (_KEYS[other], _VALUES[other].name) if name in rest]
        steps += [dropped(name, rest.pop(name), f"it has no effect on a {side}") for name in others]
        return [*steps, *properties_to_millrace(rest, "")]

    def from_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Translate options into properties."""
        rest = dict(options)
        steps = [*_VALUES[side].from_millrace(rest), *properties_from_millrace(rest, "")]
        return [*steps, *without_counterpart(rest, _IN_THE_PROGRAM, self.title)]
