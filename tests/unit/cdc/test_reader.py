"""Definitions that are read from YAML, and every problem of wrong ones, with its place and its words."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace_cdc import PipelineError, read_pipeline, read_pipeline_file
from millrace_cdc.connectors.loading import make_sink, make_source
from millrace_cdc.definitions.rules import RouteRule, TransformRule

SOURCE = "source: {type: kafka, properties.bootstrap.servers: 'h:1', topic: t}\n"
SINK = "sink: {type: kafka, properties.bootstrap.servers: 'h:1'}\n"
ENDS = SOURCE + SINK


def wrong_pipelines() -> list[tuple[str, list[str]]]:
    """The wrong files of ``wrong_pipelines.txt`` and their problems."""
    cases = Path(__file__).with_name("wrong_pipelines.txt").read_text("utf-8").rstrip("\n").split("\n=====\n")
    pairs = [each.split("\n-----\n") for each in cases]
    ends = {"@SOURCE": SOURCE.rstrip(), "@SINK": SINK.rstrip()}
    return [("\n".join(ends.get(line, line) for line in text.split("\n")), found.split("\n")) for text, found in pairs]


def problems_of(text: str, **values) -> list[str]:
    with pytest.raises(PipelineError) as wrong:
        read_pipeline(textwrap.dedent(text), **values)
    assert str(wrong.value).startswith("pipeline")
    return [str(problem) for problem in wrong.value.problems]


def test_a_file_of_the_reference():
    text = r"""
    source:
      type: kafka
      name: Kafka source
      properties.bootstrap.servers: ${kafka.bootstraps.server}
      topic: ${kafka.topic}
      value.format: json
      scan.startup.mode: earliest-offset
      # Set specific fields to a fixed type
      json.infer-schema.fixed-types: id BIGINT, name VARCHAR(10)
      scan.max.pre.fetch.records: 0
      ingestion.ignore-errors: true
      ingestion.error-tolerance.max-count: 1000
    sink:
      type: kafka
      name: Kafka Sink
      properties.bootstrap.servers: ${kafka.bootstraps.server}
      properties.sasl.password: ${secret_values.ak_secret}
      include.schema.changes: [create.table.event, column]
      exclude.schema.changes: [drop.column]
    transform:
      - source-table: \.*.\.*
        projection: \*
        primary-keys: key1, key2
    route:
      - source-table: mydb.mytable1,mydb.mytable2
        sink-table: mytable
    pipeline:
      name: From Kafka to Kafka
      dirty-data.collector:
        # Write dirty data to the log
        type: logger
    """
    definition = read_pipeline(
        textwrap.dedent(text),
        variables={"kafka.bootstraps.server": "localhost:9092", "kafka.topic": "orders"},
        secret_values={"ak_secret": "hunter2"},
    )
    assert definition.name == "From Kafka to Kafka"
    assert (definition.source.name, definition.sink.name) == ("Kafka source", "Kafka Sink")
    source = make_source(definition.source)
    assert (source.options.topics, source.options.prefetched_records, source.options.max_errors) == (
        ("orders",),
        0,
        1000,
    )
    assert dict(make_sink(definition.sink).options.properties)["sasl.password"] == "hunter2"
    assert "hunter2" not in repr(definition)
    assert definition.routes == (RouteRule(source_table="mydb.mytable1,mydb.mytable2", sink_table="mytable"),)
    assert definition.transforms == (
        TransformRule(source_table=r"\.*.\.*", projection=r"\*", primary_keys=("key1", "key2")),
    )
    assert definition.options.dirty_collector == "logger"
    assert definition.schema_changes == {"create.table", "add.column", "alter.column.type", "rename.column"}


@pytest.mark.parametrize(("text", "problems"), wrong_pipelines())
def test_every_problem_is_told_with_its_place(text, problems):
    kinds = {"{sources}": PIPELINE_SOURCE, "{sinks}": PIPELINE_SINK}
    for placeholder, kind in kinds.items():
        names = ", ".join(plugin_manager().names(kind))
        problems = [problem.replace(placeholder, names) for problem in problems]
    assert problems_of(text, variables={"topic": "t"}) == problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "transform:\n  - projection: *, 42",
            "line 2, column 18: a value that begins with * stands between quotes",
        ),
        ("source: *x", "line 1, column 9: the alias has no anchor; a value that begins with * stands between quotes"),
        ("a: b: c", "line 1, column 5: it is not YAML: mapping values are not allowed here; a value with ': ' in it"),
        (
            "source:\n\ttype: a",
            r"line 2, column 1: it is not YAML: found character '\t' that cannot start any",
        ),
        ("a: 1\n---\nb: 1", "line 2, column 1: a file has one pipeline, but a second document begins here"),
        ("? [a]\n: b\n", "line 1, column 3: expected a key, which is one word"),
        ("source: &a {b: *a}", "line 1, column 9: the value contains itself, or has too many levels"),
        ("source: !secret a", "line 1, column 9: the tag '!secret' is unknown: remove it"),
        ("<<: {a: b}", "line 1, column 1: expected a key, which is one word"),
        ("source: \x00", "it is not YAML: special characters are not allowed"),
    ],
)
def test_what_is_not_yaml_is_told_with_its_place(text, problem):
    assert [each for each in problems_of(text) if each.startswith(problem)]


def test_all_problems_of_a_file_are_told_at_once_in_the_order_of_the_file():
    text = """
    source:
      type: kafka
      properties.bootstrap.servers: localhost
      topic: ${topic}
    sink: {type: kafak}
    rout: []
    transform:
      - source-table: a.b.c.d
    """
    with pytest.raises(PipelineError) as wrong:
        read_pipeline(textwrap.dedent(text), name="orders.yaml")
    lines = str(wrong.value).splitlines()
    assert lines[0] == "orders.yaml has 5 problems:"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "  line 4, column 33",
        "  line 5, column 10",
        "  line 6, column 14",
        "  line 7, column 1",
        "  line 9, column 19",
    ]


@pytest.mark.parametrize("key", ["scan.startup.mode", "metadata.list", "topic-pattern", "scan.max.pre.fetch.records"])
def test_a_secret_is_in_no_error(key):
    text = f"source: {{type: kafka, properties.bootstrap.servers: 'h:1', {key}: '${{secret_values.x}}'}}\n{SINK}"
    found = "\n".join(problems_of(text, secret_values={"x": "(hunter2"}))
    assert key in found
    assert "not shown" in found
    assert "hunter2" not in found


def test_what_syntax_errors_quote_is_not_shown():
    assert "hunter2" not in "\n".join(problems_of("password: *hunter2"))
    assert "hunter2" not in "\n".join(problems_of("password: 'hunter2"))
    assert "hunter2" not in "\n".join(problems_of("password: !hunter2,x a: b"))


def test_names_of_keys_are_compared_without_case_and_values_stay_text():
    definition = read_pipeline(SOURCE.replace("topic: t", "Topic: 010") + SINK)
    assert make_source(definition.source).options.topics == ("010",)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + ENDS.encode())
    assert read_pipeline_file(file).source.type == "kafka"


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(PipelineError, match=r"none.yaml: the file cannot be read: No such file"):
        read_pipeline_file(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe4")
    with pytest.raises(PipelineError, match=r"latin.yaml: the file cannot be read: it is not in UTF-8"):
        read_pipeline_file(tmp_path / "latin.yaml")


def test_the_pipelines_of_the_docs_are_valid():
    pages = sorted((Path(__file__).parents[3] / "docs").glob("pipeline*.md"))
    text = "".join(page.read_text("utf-8") for page in pages)
    blocks = re.findall(r"^```yaml\n(?:# .*\n)?(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 1
    for block in blocks:
        ends = "".join(line for line in ENDS.splitlines(keepends=True) if line.partition(":")[0] + ":" not in block)
        text = ends + block
        secrets = dict.fromkeys(("kafka.password", "shop.password", "aws.key", "aws.secret"), "p")
        assert read_pipeline(text, variables={"kafka.servers": "h:1"}, secret_values=secrets)


def test_the_collector_topic_may_be_called_kafka():
    text = """
source: {type: kafka, properties.bootstrap.servers: 'a:1', topic: t, ingestion.ignore-errors: true}
sink: {type: values}
pipeline: {dirty-data.collector: {type: kafka, topic: dead}}
"""
    assert read_pipeline(text).options.dirty_collector == "topic"
