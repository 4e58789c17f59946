"""Runs of a pipeline whose rules change and that are killed: the sink gets all that rows need, before they come."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import SCHEMA_CHANGES
from millrace_catalog.inference import DebeziumInferenceOptions
from millrace_catalog.types.spark import from_spark_schema
from millrace_cdc.definitions.rules import RouteRule, TransformRule, rules_digest
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.micro_batch_states import MicroBatchStates
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.sink_tables import pending_changes
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.runtime.task_reports import Place
from millrace_cdc.runtime.truncation import TruncationPolicy
from millrace_cdc.transforms.transform import BoundTransform, Transforms

ALL = frozenset(SCHEMA_CHANGES)
SOURCES, TARGETS = ("shop.a", "shop.b"), ("ods.x", "ods.y")
VALUES = {"n": st.sampled_from([1, 1.5, "text", None]), "m": st.booleans(), "k": st.integers(0, 9)}
ROWS = st.fixed_dictionaries({"id": st.integers(0, 9)}, optional=VALUES)
MESSAGES = st.lists(st.tuples(st.sampled_from(SOURCES), ROWS), max_size=4)
PROJECTIONS = st.sampled_from([None, "id", "id, id AS copy"])
RULES = st.tuples(st.dictionaries(st.sampled_from(SOURCES), st.sampled_from(TARGETS)), PROJECTIONS, st.booleans())
KILLS = st.sampled_from(["", "before the sink hears of it", "before rows are written", "before Spark knows"])
RUNS = st.lists(st.tuples(RULES, st.lists(st.tuples(MESSAGES, KILLS), max_size=4)), min_size=1, max_size=5)


class Texts:
    """Texts of states by micro-batch, instead of files."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def load(self, batch: int) -> str | None:
        return self._texts.get(batch)

    def has(self, batch: int) -> bool:
        return batch in self._texts

    def load_initial(self) -> str | None:
        return self.load(-1)

    def load_before(self, batch: int) -> str | None:
        earlier = [each for each in self._texts if 0 <= each < batch]
        return self._texts[max(earlier)] if earlier else None

    def save(self, batch: int, text: str) -> None:
        assert batch not in self._texts
        self._texts[batch] = text

    def amend(self, batch: int, text: str) -> None:
        self._texts[batch] = text


class Copies:
    """Types of columns that are copied under another name; Spark analyzes other expressions."""

    def columns(self, table: str, columns: Any, transform: BoundTransform) -> Any:
        found = [(each.name, columns.types[str(each.copied_from)]) for each in transform.columns]
        column = type(columns.columns[0])
        return type(columns)(tuple(column(name, type_) for name, type_ in found))


class Run:
    """A run of a pipeline, up to the point at which it is killed."""

    def __init__(self, checkpoint: Any, sink: dict[str, dict[str, Any]], rules: Any) -> None:
        targets, projection, has_key = rules
        routes = [RouteRule(source_table=source, sink_table=target) for source, target in targets.items()]
        given_keys = {"primary_keys": ("id",)} if has_key else {}
        transforms = [TransformRule(source_table=r"\.*.\.*", projection=projection, **given_keys)]
        digest = rules_digest(routes, transforms)
        self.planner = TablePlanner(Router(routes), Transforms(transforms), Copies())
        settings = EvolutionSettings("lenient", ALL, ALL, rules=digest)
        self.parser = ParserSettings("debezium-json", DebeziumInferenceOptions())
        evolution = SchemaEvolution(settings, self.planner)
        failures = TableFailures(self.planner, self.parser)
        truncations = TruncationPolicy(settings, self.planner, self.parser)
        states = PipelineStates(checkpoint, settings, self.planner)
        self.states = MicroBatchStates(states, evolution, failures, truncations, digest)
        self.sink = sink
        self.has_key = has_key

    def process(self, batch: int, messages: Any, kill: str) -> bool:
        """Process a micro-batch, and return whether the run goes on."""
        before = self.states.before(batch)
        parser = ChangeParser(self.parser, TableSchemas().of(before.sources), before.paused)
        for offset, (table, row) in enumerate(messages):
            source = dict(zip(("db", "table"), table.split("."), strict=True))
            value = json.dumps({"before": None, "after": row, "op": "c", "source": source}).encode()
            parser.changes(Place("topic", 0, offset), value)
        state = self.states.after(before, [parser.report], batch)
        if kill == "before the sink hears of it":
            return False
        for change in pending_changes(state, self.planner, ALL):
            # Tables that are there stay, with what they have
            table = self.sink.setdefault(change.table.id, {})
            table |= from_spark_schema(change.table.schema).types
        if kill == "before rows are written":
            return False
        self.check(state, {table for table, _ in messages})
        self.states.finish(state)
        return not kill

    def check(self, state: SchemaState, sources: set[str]) -> None:
        """Check that the sink has all tables and columns of rows."""
        for source in sources:
            tracker = state.sources[source]
            plan = self.planner.plan(source, tracker.schema, tracker.primary_key)
            for target in plan.targets:
                table = state.sinks[target]
                assert plan.columns.types.keys() <= table.schema.types.keys() <= self.sink[target].keys()
                assert not self.has_key or table.primary_key == ("id",)


@given(RUNS)
def test_the_sink_has_all_that_rows_need_whatever_rules_and_kills_come(runs):
    checkpoint, sink = Texts(), {}
    checkpoint.save(-1, SchemaState().to_text())
    batch, uncommitted = 0, None
    for rules, batches in runs:
        run = Run(checkpoint, sink, rules)
        for messages, kill in batches:
            # A micro-batch that was begun has the messages that it had
            repeated = messages if uncommitted is None else uncommitted
            goes_on = run.process(batch, repeated, kill)
            is_committed = goes_on
            batch, uncommitted = (batch + 1, None) if is_committed else (batch, repeated)
            if not goes_on:
                break
