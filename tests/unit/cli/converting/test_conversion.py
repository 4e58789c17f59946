"""Conversions whose outcome is more than another name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from millrace_cli.converting.conversion import ConvertedLine, Verdict, convert
from millrace_cli.converting.dialect import OptionSet
from millrace_cli.converting.dialects import load_dialect, recognize

PAGE = Path(__file__).parents[4] / "docs/from-spark-kafka.md"


def lines(text: str, source: str, target: str) -> dict[str, ConvertedLine]:
    """Convert a text, and return a line by each of its names."""
    dialect = load_dialect(source)
    converted = convert(dialect.parse(text), dialect, load_dialect(target)).lines
    return {name: line for line in converted for name in line.before}


@pytest.mark.parametrize(
    ("source", "text", "target", "name", "verdict", "reason"),
    [
        (
            "java",
            "session.timeout.ms=1",
            "millrace",
            "session.timeout.ms",
            Verdict.DROPPED,
            "no group that could expel",
        ),
        ("java", "session.timeout.ms=1", "flink", "session.timeout.ms", Verdict.TRANSLATED, ""),
        ("java", "enable.auto.commit=false", "millrace", "enable.auto.commit", Verdict.TRANSLATED, ""),
        ("java", "interceptor.classes=a.B", "millrace", "interceptor.classes", Verdict.DROPPED, "transform the rows"),
        (
            "java",
            "bootstrap.server=h:1",
            "spark",
            "bootstrap.server",
            Verdict.UNDECIDED,
            "did you mean 'bootstrap.servers'",
        ),
        ("java", "value.deserializer=a.Mine", "millrace", "value.deserializer", Verdict.UNDECIDED, "choose a format"),
        ("java", "group.id=g", "spark", "group.id", Verdict.UNDECIDED, "neither starts at the offsets of a group"),
        ("millrace", '{"scan.header-filter": "a:b"}', "spark", "scan.header-filter", Verdict.DROPPED, "no such option"),
        ("millrace", '{"format": "csv"}', "java", "format", Verdict.UNDECIDED, "no class of Kafka's own"),
        (
            "millrace",
            '{"properties.queue.buffering.max.kbytes": "1"}',
            "java",
            "properties.queue.buffering.max.kbytes",
            Verdict.UNDECIDED,
            "'buffer.memory'",
        ),
        (
            "millrace",
            '{"metadata.columns": "offset"}',
            "flink",
            "metadata.columns",
            Verdict.UNDECIDED,
            "declare a column",
        ),
        (
            "millrace",
            '{"scan.max-records-per-batch": "9"}',
            "flink",
            "scan.max-records-per-batch",
            Verdict.DROPPED,
            "an addition",
        ),
        ("millrace", '{"scan.startup.mode": "no-such"}', "millrace", "scan.startup.mode", Verdict.UNDECIDED, "no-such"),
        ("spark", '{"kafka.group.id": "g"}', "millrace", "kafka.group.id", Verdict.SAME, ""),
        ("spark", '{"kafka.group.id": "g"}', "flink", "kafka.group.id", Verdict.UNDECIDED, "commits them"),
        (
            "spark",
            '{"fetchOffset.numRetries": "3"}',
            "millrace",
            "fetchOffset.numRetries",
            Verdict.DROPPED,
            "tried again",
        ),
        ("spark", '{"subscirbe": "t"}', "millrace", "subscirbe", Verdict.DROPPED, "ignores it"),
        ("spark", '{"checkpointLocation": "c"}', "millrace", "checkpointLocation", Verdict.SAME, ""),
        (
            "connect",
            '{"connector.class": "a.BSinkConnector"}',
            "millrace",
            "connector.class",
            Verdict.UNDECIDED,
            "the query",
        ),
        (
            "connect",
            '{"value.converter": "org.apache.kafka.connect.json.JsonConverter"}',
            "millrace",
            "value.converter",
            Verdict.UNDECIDED,
            "schemas.enable = true",
        ),
    ],
)
def test_a_line_says_what_becomes_of_an_option(
    source: str, text: str, target: str, name: str, verdict: Verdict, reason: str
) -> None:
    line = lines(text, source, target)[name]
    assert line.verdict is verdict
    assert reason in line.reason


def test_a_login_and_a_keystore_stay_as_they_are_for_millrace() -> None:
    java = {
        "bootstrap.servers": "h:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": 'PlainLoginModule required username="u" password="p";',
        "ssl.truststore.location": "/etc/kafka.jks",
        "ssl.truststore.password": "changeit",
    }
    conversion = convert(OptionSet(java), load_dialect("java"), load_dialect("millrace"))
    assert conversion.options == {f"properties.{name}": value for name, value in java.items()}
    assert conversion.is_complete


def test_reads_that_skip_aborted_records_differ_from_those_that_do_not() -> None:
    def note(source: str, target: str, **options: str) -> str:
        return " ".join(convert(OptionSet(options), load_dialect(source), load_dialect(target)).notes)

    assert "skips the records of aborted transactions" in note("spark", "millrace", subscribe="t")
    assert "isolation.level = read_committed reads as before" in note("millrace", "spark", topic="t")
    assert "aborted" not in note("spark", "java", subscribe="t")
    assert "aborted" not in note("spark", "millrace", **{"kafka.isolation.level": "read_uncommitted"})


def test_what_millrace_lacks_is_noted() -> None:
    conversion = convert(OptionSet({"linger.ms": "5"}), load_dialect("java"), load_dialect("millrace"))
    assert any("'properties.bootstrap.servers' is required" in note for note in conversion.notes)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("bootstrap.servers=h:1\nlinger.ms=5\n", "java"),
        ("kafka.bootstrap.servers=h:1\nsubscribe=t\n", "spark"),
        ('{"kafka.bootstrap.servers": "h:1", "topic": "t"}', "spark"),
        ('spark.read.format("kafka").option("subscribe", "t")', "spark"),
        ('{"properties.bootstrap.servers": "h:1"}', "millrace"),
        ('spark.read.format("millrace").option("topic", "t")', "millrace"),
        ('{"name": "sink", "config": {"connector.class": "a.B", "topics": "t"}}', "connect"),
        ("CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'h:1')", "flink"),
        ("'topic' = 't',\n'properties.bootstrap.servers' = 'h:1'", "flink"),
    ],
)
def test_a_dialect_is_recognized(text: str, dialect: str) -> None:
    assert type(recognize(text)) is type(load_dialect(dialect))


def test_the_example_of_the_docs_becomes_what_they_show() -> None:
    section = PAGE.read_text().partition("## Convert options")[2]
    program, shown = (re.search(f"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("python", "json"))
    spark = load_dialect("spark")
    conversion = convert(spark.parse(program), spark, load_dialect("millrace"))
    assert conversion.options == json.loads(shown)
    assert [line.verdict for line in conversion.lines].count(Verdict.DROPPED) == 1
