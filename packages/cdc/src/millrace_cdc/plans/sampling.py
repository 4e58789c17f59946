"""Find the source's tables in a sample of its messages, with the message that each column's type was taken from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from millrace.change_dialects import SkipReason
from millrace.contracts import SampledMessage
from millrace.errors import MessageError, SchemaError
from millrace_catalog.evolution import SchemaChange, SchemaTracker
from millrace_catalog.inference import Position
from millrace_cdc.plans.model import ColumnEvidence
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.extra_columns import sampled
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.schema_evolution import observation_of
from millrace_cdc.runtime.schema_headers import MessageSchemas
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.source import MessageSource
from millrace_cdc.runtime.task_reports import Place, TableReport


@dataclass
class SampleFindings:
    """The findings in a sample.

    Attributes:
        tables: The report of each table.
        evidence: By table and column, what the column's type was taken from.
        problems: What does not go together, one sentence each.
        malformed: What is wrong with each malformed message.
        skipped: The number of messages that are skipped for each reason.
        updated: The tables that have updates or deletions.
    """

    tables: dict[str, TableReport] = field(default_factory=dict)
    evidence: dict[str, dict[str, ColumnEvidence]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    updated: set[str] = field(default_factory=set)


def sample_tables(source: MessageSource, state: SchemaState) -> SampleFindings:
    """Read a sample of a source's messages, and let its tables in a state follow them.

    Raises:
        ClientError: The messages cannot be read.
    """
    sample = SampleFindings(
        evidence={name: _known_evidence(tracker, source) for name, tracker in state.sources.items()}
    )
    settings = replace(source.parser_settings, skips_malformed=False)
    if not state.sources:
        # The messages that a static strategy reads beforehand make the schema together
        settings = replace(settings, strategy="continuous")
    parser = ChangeParser(settings, TableSchemas().of(state.sources))
    for topic, messages in source.sample_messages().items():
        for message in messages:
            _parse(parser, topic, message, settings.schemas_of_sample(message), sample)
    sample.tables, sample.skipped = parser.report.tables, parser.report.skipped
    for table, report in sorted(sample.tables.items()):
        _follow(table, report, state, sample, settings)
    return sample


def _parse(
    parser: ChangeParser, topic: str, message: SampledMessage, schemas: MessageSchemas, sample: SampleFindings
) -> None:
    place = Place(topic, message.partition, message.offset)
    try:
        changes = parser.changes(place, message.value, message.key, sampled(topic, message), schemas)
    except MessageError as error:
        sample.malformed.append(str(error))
    except SchemaError as error:
        sample.problems.append(str(error))
    else:
        for change in changes:
            report = parser.report.tables[change.table]
            report.rows += len(change.rows)
            report.partitions.add((topic, message.partition))
            if change.operation != "c":
                sample.updated.add(change.table)


def _follow(
    table: str, report: TableReport, state: SchemaState, sample: SampleFindings, settings: ParserSettings
) -> None:
    before = state.sources.get(table)
    text = SchemaTracker(table).state() if before is None else before.state()
    tracker = SchemaTracker.restore(text, settings.strategy, settings.max_columns)
    evidence = sample.evidence.setdefault(table, {})
    for required in sorted(report.required, key=lambda required: required.place):
        place = required.place
        try:
            changes = tracker.observe(observation_of(table, required), Position(place.partition, place.offset))
        except SchemaError as error:
            sample.problems.append(f"topic {place.topic!r}: {error}")
            continue
        evidence |= dict.fromkeys(_columns(changes), ColumnEvidence("message", *place))
    if tracker.version:
        state.sources[table] = tracker


def _known_evidence(tracker: SchemaTracker, source: MessageSource) -> dict[str, ColumnEvidence]:
    evidence: dict[str, ColumnEvidence] = {}
    for change in tracker.changes():
        cause = change.cause
        origin = (
            ColumnEvidence(source.schema_origin)
            if cause is None
            else ColumnEvidence("checkpoint", None, cause.partition, cause.offset)
        )
        evidence |= dict.fromkeys(_columns([change]), origin)
    return evidence


def _columns(changes: Iterable[SchemaChange]) -> Iterator[str]:
    for change in changes:
        yield from (column.name for column in change.columns)
