"""Plans of pipelines that need no Spark: those without expressions and without a checkpoint."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace

import pytest
from click.testing import CliRunner

from millrace.contracts import PipelineSink, SinkCapabilities
from millrace_cdc import Pipeline
from millrace_cdc.plans.planner import plan_pipeline
from millrace_cli.root import root

SINK = "sink: {type: values}"


def no_session():
    raise AssertionError("a plan without expressions needs no Spark")


def plan(changes: str, rest: str = SINK, schemas: str = ""):
    lines = textwrap.indent(textwrap.dedent(changes), "    ")
    given = f"\n  schemas: {schemas}" if schemas else ""
    text = f"source:\n  type: values{given}\n  changes: |\n{lines}\n{rest}"
    return Pipeline.from_yaml(text).plan(no_session)


class TableSink(PipelineSink):
    """A sink of tables in some system."""

    @property
    def capabilities(self):
        return SinkCapabilities(SinkCapabilities.ALL_CHANGES)

    def apply(self, spark, changes):
        raise AssertionError("a plan changes nothing")

    def write(self, batch):
        raise AssertionError("a plan writes nothing")


def problems(found) -> list[str]:
    return [str(each) for each in found.problems]


def test_columns_have_the_messages_that_their_types_were_taken_from():
    found = plan('+I a.t {"id": 1, "n": 1}\n+I a.t {"id": 2, "n": 2}\n+I a.t {"id": 3, "n": 2.5, "new": true}')
    (table,) = found.tables
    assert (table.id, table.changes, table.targets, table.primary_key) == ("a.t", 3, ("a.t",), ())
    assert [(each.name, each.type, each.evidence.offset) for each in table.columns] == [
        ("id", "BIGINT", 0),
        ("n", "DOUBLE", 2),
        ("new", "BOOLEAN", 2),
    ]
    (target,) = found.targets
    assert target.schema_changes == ("CREATE TABLE a.t (id BIGINT, n DOUBLE, new BOOLEAN);",)
    assert (target.destination.kind, target.destination.exists) == ("lines", False)
    assert not found.problems


@pytest.mark.parametrize(
    ("rest", "noted"), [("", ["a.t"]), ("transform: [{source-table: a.t, primary-keys: id}]\n", [])]
)
def test_updates_of_a_table_without_a_primary_key_are_noted_for_sinks_of_tables(rest, noted):
    changes = '+I a.t {"id": 1}\n    -D a.t {"id": 1}\n    +I a.u {"id": 1}'
    job = Pipeline.from_yaml(f"source:\n  type: values\n  changes: |\n    {changes}\n{rest}{SINK}")._job()
    found = plan_pipeline(replace(job, sink=TableSink(None)), "values", "other", no_session)
    notes = [note for note in found.notes if "updates or deletions and no primary key" in note]
    assert [note.split("'")[1] for note in notes] == noted
    lines = plan_pipeline(job, "values", "values", no_session)
    assert not any("no primary key" in note for note in lines.notes)


def test_columns_of_statements_are_told_from_those_of_messages():
    found = plan('+I a.t {"id": 1, "n": 1}', schemas="CREATE TABLE a.t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED)")
    (table,) = found.tables
    assert [str(each.evidence) for each in table.columns] == ["the file", "topic 'values', partition 0, offset 0"]
    assert table.primary_key == ("id",)


def test_rules_have_their_tables_and_one_without_is_a_problem_at_its_place():
    rest = (
        "route:\n  - {source-table: 'a.\\.*', sink-table: all.t}\n  - {source-table: b.t, sink-table: c.t}\n"
        "  - {source-table: xyz, sink-table: c.t}\n"
        f"transform:\n  - {{source-table: a.t, primary-keys: id}}\n{SINK}"
    )
    found = plan('+I a.t {"id": 1}\n+I a.u {"id": 1}', rest)
    assert [(each.kind, each.number, each.tables) for each in found.rules] == [
        ("route", 1, ("a.t", "a.u")),
        ("route", 2, ()),
        ("route", 3, ()),
        ("transform", 1, ("a.t",)),
    ]
    assert problems(found) == [
        "line 8, column 20: route 2 (b.t) is for none of the tables that were found; did you mean 'a.t'?",
        "line 9, column 20: route 3 (xyz) is for none of the tables that were found",
    ]
    assert [target.id for target in found.targets] == ["all.t"]


def test_a_table_that_lacks_the_primary_key_of_a_rule_is_noted_and_a_rule_whose_tables_all_do_is_a_problem():
    messages = '+I a.t {"id": 1}\n+I a.u {"name": "x"}'
    found = plan(messages, f"transform: [{{source-table: 'a.\\.*', primary-keys: id}}]\n{SINK}")
    assert problems(found) == []
    assert [note for note in found.notes if "primary-keys" in note] == [
        "table 'a.u' has no column id, which 'primary-keys' of its transform names: it has no primary key"
    ]
    assert {target.id: target.primary_key for target in found.targets} == {"a.t": ("id",), "a.u": ()}
    (problem,) = problems(plan(messages, f"transform: [{{source-table: 'a.\\.*', primary-keys: nope}}]\n{SINK}"))
    assert problem == (
        "line 6, column 51: transform 1 (a.\\.*): none of its tables has the primary key (nope) that 'primary-keys' "
        "names"
    )


def test_rules_are_no_problem_while_there_are_no_tables():
    found = plan("", f"route: [{{source-table: b.t, sink-table: c.t}}]\n{SINK}")
    assert problems(found) == []
    assert found.notes == (
        "no table was found: there are no messages of changes yet",
        "route 1 (b.t) is for none of the tables that were found",
    )


def test_a_column_that_is_not_there_is_told_at_its_place():
    rest = f"transform:\n  - source-table: a.t\n    projection: id, UPPER(nam) AS n\n    filter: idd > 1\n{SINK}"
    assert problems(plan('+I a.t {"id": 1, "name": "x"}', rest)) == [
        "line 7, column 27: transform of a.t: option 'projection': there is no column 'nam'; did you mean 'name'?",
        "line 8, column 13: transform of a.t: option 'filter': there is no column 'idd'; did you mean 'id'?",
    ]


@pytest.mark.parametrize(
    ("behavior", "outcome"),
    {
        "exception": "ends the pipeline",
        "ignore": "is not applied: values are converted to the columns that there are",
        "evolve": "ends the pipeline: the sink cannot apply it",
        "lenient": "is not applied, as the sink cannot: values are converted to the columns that there are",
    }.items(),
)
def test_a_schema_change_that_the_sink_cannot_apply(behavior, outcome):
    rest = f"sink: {{type: values, error.on.schema.change: true}}\npipeline: {{schema.change.behavior: {behavior}}}"
    by_type = {each.type: each for each in plan('+I a.t {"id": 1}', rest).schema_changes}
    assert (by_type["add.column"].is_supported, by_type["add.column"].outcome) == (False, outcome)


def test_a_schema_change_that_the_file_excludes():
    rest = "sink: {type: values, exclude.schema.changes: alter}"
    by_type = {each.type: each for each in plan('+I a.t {"id": 1}', rest).schema_changes}
    assert not by_type["alter.column.type"].is_included
    assert by_type["alter.column.type"].outcome.startswith("is not applied")
    assert by_type["add.column"].outcome == "is applied"
    # As the reference says, a lenient pipeline empties no table unless the file says so
    assert by_type["truncate.table"].outcome == "is applied"
    assert "messages do not show it" in by_type["rename.column"].outcome


def test_a_lenient_pipeline_empties_no_table():
    by_type = {each.type: each for each in plan('+I a.t {"id": 1}').schema_changes}
    assert by_type["truncate.table"].outcome == "is not applied: rows stay"


def test_a_route_that_makes_no_tables_id_of_a_name_is_a_problem():
    rest = f"route:\n  - {{source-table: 'a.(\\.*)', sink-table: 'x.y.z.$1'}}\n{SINK}"
    assert "route of table 'a.t'" in "".join(problems(plan('+I a.t {"id": 1}', rest)))


def test_the_command_writes_text_or_json_and_ends_with_1_for_a_plan_with_problems(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text('source:\n  type: values\n  changes: |\n    +I a.t {"id": 1}\n' + SINK)
    done = CliRunner().invoke(root, ["plan", str(file)])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[:2] == [
        "values to values, at-least-once",
        "A run starts from scratch: there is no checkpoint",
    ]
    assert "    id  BIGINT  by topic 'values', partition 0, offset 0" in done.output
    assert "  a.t: lines a.t, to be created, no primary key" in done.output
    content = json.loads(CliRunner().invoke(root, ["plan", str(file), "--json"]).output)
    assert content["tables"][0]["columns"][0]["evidence"]["offset"] == 0
    file.write_text(file.read_text() + "\ntransform: [{source-table: a.t, primary-keys: nope}]")
    done = CliRunner().invoke(root, ["plan", str(file), "--json"])
    assert done.exit_code == 1
    assert json.loads(done.output)["problems"][0]["line"] == 6
