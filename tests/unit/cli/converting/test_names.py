"""Each name that a dialect knows has a verdict in all others, by the tables that reads and writes use."""

from __future__ import annotations

import itertools

import pytest

from millrace.configuration.spark_compat import SPARK_OPTIONS
from millrace.kafka.java_properties import JAVA_PROPERTIES, Ignored
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.field import options_of
from millrace_cli.converting.conversion import Verdict, convert
from millrace_cli.converting.declared_options import spark_name
from millrace_cli.converting.dialect import OptionSet, Side
from millrace_cli.converting.dialects import load_dialect

DECLARED = [info for options in (SourceOptions, SinkOptions) for info in options_of(options).values()]
CAMEL_CASE = [name for info in DECLARED if (name := spark_name(info)) is not None]
NAMES = {
    "java": list(JAVA_PROPERTIES),
    "spark": [*SPARK_OPTIONS, *CAMEL_CASE, *(f"kafka.{name}" for name in JAVA_PROPERTIES)],
    "flink": [*(info.name for info in DECLARED), *(f"properties.{name}" for name in JAVA_PROPERTIES)],
    "connect": ["topics", "topics.regex", *(f"consumer.override.{name}" for name in JAVA_PROPERTIES)],
    "millrace": [*(info.name for info in DECLARED), *CAMEL_CASE, *(f"properties.{name}" for name in JAVA_PROPERTIES)],
}


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(NAMES, 2)))
def test_each_name_has_a_verdict(source: str, target: str) -> None:
    options = OptionSet(dict.fromkeys(NAMES[source], "1"))
    lines = convert(options, load_dialect(source), load_dialect(target), Side.READ).lines
    named = [name for line in lines for name in line.before]
    assert (sorted(named), len(named)) == (sorted(options.options), len(set(named)))
    assert [line.before for line in lines if not line.reason and (not line.after or not line.is_complete)] == []


def test_there_are_more_than_two_hundred_names() -> None:
    assert (
        len({name for names in NAMES.values() for name in names} - {f"kafka.{name}" for name in JAVA_PROPERTIES}) > 200
    )
    assert len(JAVA_PROPERTIES) + len({info.name for info in DECLARED}) > 200


def test_a_property_without_effect_is_dropped_for_the_reason_that_its_warning_gives() -> None:
    ignored = {name: handling for name, handling in JAVA_PROPERTIES.items() if isinstance(handling, Ignored)}
    special = {"key.deserializer", "key.serializer", "value.deserializer", "value.serializer", "transactional.id"}
    options = OptionSet(dict.fromkeys(ignored.keys() - special, "?"))
    lines = convert(options, load_dialect("java"), load_dialect("millrace"), Side.READ).lines
    reasons = {name: line.reason for line in lines for name in line.before if line.verdict is Verdict.DROPPED}
    assert {name for name in options.options if ignored[name].reason not in reasons.get(name, "")} == set()
