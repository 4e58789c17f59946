"""Definitions as YAML and back; schema changes; secrets' files; the JSON Schema."""

from __future__ import annotations

import pickle

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import OptionsError, UnknownPluginError
from millrace.options.secrets import Properties
from millrace_cdc import PipelineDefinition, PipelineError, read_pipeline, render_pipeline
from millrace_cdc.connectors.loading import make_sink, make_source
from millrace_cdc.definitions.model import SinkDefinition, SourceDefinition
from millrace_cdc.definitions.pipeline_options import PipelineOptions
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.definitions.schema_changes import included_schema_changes, schema_changes_of
from millrace_cdc.definitions.sink_retries import SinkRetryOptions
from millrace_cdc.errors import DocumentPosition, Problem
from millrace_cdc.json_schema import json_schema

SCHEMA = json_schema()
SERVERS = {"properties.bootstrap.servers": "h:1"}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="${,`"), min_size=1, max_size=12)
COLUMNS = st.lists(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), max_size=3, unique=True).map(tuple)
ROUTES = st.builds(
    RouteRule,
    source_table=st.sampled_from([r"\.*.\.*", "db.orders", "a,b", "db.[a-z]{1,3}", "*.(a|b)".replace("*", "x")]),
    sink_table=st.sampled_from(["ods.orders", "<>", "true", "0"]),
    replace_symbol=st.none() | st.just("<>"),
    description=st.none() | WORDS,
)
TRANSFORMS = st.builds(
    TransformRule,
    source_table=st.sampled_from([r"\.*.\.*", "db.orders"]),
    projection=st.none() | st.sampled_from(["*", r"\*, id + 1 AS next", "id, 'a: b' AS c"]),
    filter=st.none() | st.just("id > 10 AND name = '#'"),
    primary_keys=COLUMNS,
    partition_keys=COLUMNS,
    table_options=st.sampled_from([(), (("bucket", "4"), ("comment", "web order"))]),
    converter=st.sampled_from([None, "SOFT_DELETE"]),
    description=st.none() | WORDS,
)
OPTIONS = st.builds(
    PipelineOptions,
    name=st.none() | WORDS,
    parallelism=st.none() | st.integers(1, 99),
    time_zone=st.none() | st.just("Asia/Tokyo"),
    runtime_mode=st.sampled_from(["STREAMING", "BATCH"]),
    schema_change_behavior=st.sampled_from(["exception", "evolve", "try_evolve", "lenient", "ignore"]),
    route_mode=st.sampled_from(["ALL_MATCH", "FIRST_MATCH"]),
    dirty_collector=st.none() | st.just("logger"),
)
TAGS = st.lists(st.sampled_from([*SCHEMA_CHANGES, "drop", "column", "all"]), max_size=3).map(tuple)
DEFINITIONS = st.builds(
    PipelineDefinition,
    source=st.builds(
        lambda name, group: SourceDefinition(
            "kafka", Properties(SERVERS | {"topic": "t", "properties.group.id": group}), name
        ),
        st.none() | WORDS,
        WORDS,
    ),
    sink=st.builds(
        lambda name, include, exclude, retries: SinkDefinition(
            "kafka", Properties(SERVERS), name, include, exclude, SinkRetryOptions(max_retries=retries)
        ),
        st.none() | WORDS,
        TAGS,
        st.none() | TAGS,
        st.integers(0, 99),
    ),
    routes=st.lists(ROUTES, max_size=3).map(tuple),
    transforms=st.lists(TRANSFORMS, max_size=3).map(tuple),
    options=OPTIONS,
)


@given(DEFINITIONS)
def test_a_definition_that_is_written_is_read_again(definition):
    assert read_pipeline(render_pipeline(definition)) == definition


@settings(max_examples=30)
@given(DEFINITIONS)
def test_editors_accept_what_is_written(definition):
    jsonschema.validate(yaml.safe_load(render_pipeline(definition)), SCHEMA)


@pytest.mark.parametrize(
    ("wrong", "at"),
    [
        ({"source": {"type": "kafka", **SERVERS, "topik": "t"}}, ["source"]),
        ({"sink": {"type": "kafak", **SERVERS}}, ["sink", "type"]),
        ({"route": [{"source-table": "a"}]}, ["route", 0]),
        ({"pipeline": {"parallelism": "many"}}, ["pipeline", "parallelism"]),
        ({"pipeline": {"schema.change.behavior": "evolv"}}, ["pipeline", "schema.change.behavior"]),
        ({"rout": []}, []),
    ],
)
def test_editors_find_what_is_wrong(wrong, at):
    right = {"source": {"type": "kafka", **SERVERS, "topic": "t"}, "sink": {"type": "kafka", **SERVERS}}
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(right | {"pipeline": {"parallelism": "${n}", "route-mode": "all_match"}}, schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(right | wrong))
    assert at in [list(error.absolute_path) for error in errors]


@pytest.mark.parametrize(
    ("tag", "types"),
    [
        ("add.column", {"add.column"}),
        ("drop", {"drop.column", "drop.table"}),
        ("Column", {"add.column", "alter.column.type", "drop.column", "rename.column"}),
        ("table", {"create.table", "drop.table", "truncate.table"}),
        ("create.table.event", {"create.table"}),
        ("column.type", {"alter.column.type"}),
        ("all", set(SCHEMA_CHANGES)),
    ],
)
def test_a_tag_stands_for_the_types_with_its_words(tag, types):
    assert schema_changes_of(tag) == types


def test_included_schema_changes():
    everything = set(SCHEMA_CHANGES)
    assert included_schema_changes([], None, "evolve") == everything
    assert included_schema_changes([], None, "lenient") == everything - {"drop.table", "truncate.table"}
    assert included_schema_changes([], [], "lenient") == everything
    assert included_schema_changes(["truncate", "add.column"], None, "lenient") == {"truncate.table", "add.column"}
    assert included_schema_changes(["all"], None, "lenient") == everything
    assert included_schema_changes(["create.table.event", "column"], ["drop.column"], "lenient") == {
        "create.table",
        "add.column",
        "alter.column.type",
        "rename.column",
    }
    with pytest.raises(ValueError, match=r"did you mean 'drop.table'"):
        included_schema_changes(["drop.tabel"], None, "evolve")


def test_an_error_pickles():
    error = PipelineError(
        "p.yaml", [Problem(DocumentPosition(2, 1), "b"), Problem(None, "a"), Problem(DocumentPosition(2, 1), "b")]
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.problems) == (str(error), error.problems)
    assert str(error) == "p.yaml has 2 problems:\n  a\n  line 2, column 1: b"


def test_ends_are_made_of_definitions_in_code():
    with pytest.raises(UnknownPluginError, match="unknown pipeline source 'x'"):
        make_source(SourceDefinition("x", Properties({})))
    with pytest.raises(OptionsError, match="exclude each other"):
        make_sink(SinkDefinition("kafka", Properties(SERVERS | {"topic": "a", "sink.tableId-to-topic.mapping": "a:b"})))


FUNCTIONS = """
source: {type: values, changes: ''}
sink: {type: values}
transform:
  - {source-table: s.t, projection: "id, Gross(net) AS gross", filter: "GROSS(net) > 5"}
pipeline:
  parallelism: 2
  user-defined-function:
    - name: gross
      classpath: tax.py:gross
      return-type: DECIMAL(10, 2)
      options: {rate: 0.2}
"""


def test_functions_of_users_are_read_and_written(tmp_path):
    (tmp_path / "tax.py").write_text("def gross(net, *, rate: float):\n    return net * (1 + rate)\n")
    jsonschema.validate(yaml.safe_load(FUNCTIONS), SCHEMA)
    definition = read_pipeline(FUNCTIONS, folder=tmp_path)
    (function,) = definition.functions
    assert (function.options, str(function.return_type)) == ((("rate", "0.2"),), "DECIMAL(10, 2)")
    written = render_pipeline(definition)
    jsonschema.validate(yaml.safe_load(written), SCHEMA)
    assert read_pipeline(written, folder=tmp_path) == definition
