"""Plan a read by the code that plans real ones; nothing is committed, joined, created or written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import Offsets, StreamOffset
from millrace.configuration import SourceConfig
from millrace.contracts import StandardOffsets, TopicPartition
from millrace.errors import ClientError, MillraceError, UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.plans.checkpoint import read_checkpoint
from millrace.plans.columns import read_columns
from millrace.plans.counting import bound_by_offsets, count_by_reading
from millrace.plans.model import JobPlan
from millrace.plans.parts import (
    PlannedCreation,
    PlannedPermission,
    PlannedRange,
    PlannedRead,
    RowCount,
)
from millrace.plans.resolved_options import resolved_options
from millrace.source.enumerator.consumer_group import check_group_is_free
from millrace.source.enumerator.planner import Planner, plan_batch, plan_micro_batch
from millrace.source.enumerator.start_and_stop_offsets import startup_initializer
from millrace.source.splits import OffsetRange, Split
from millrace.spark.pushed_filters import PushedFilters
from millrace.spark.schema import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

COUNTED_OFFSETS = 10_000
"""Offsets up to which a plan reads what it plans, to count it."""


@dataclass(frozen=True)
class ReadRequest:
    """A read to plan.

    Attributes:
        options: The options as the user gave them.
        name: The name to show; by default the topics.
        schema: The columns that the user gives; None without any.
        streaming: Whether it is a stream.
        available_now: Whether the stream ends with what is there.
        checkpoint: The folder of the stream's checkpoint; empty without one.
        count_limit: Offsets up to which messages and rows are counted by reading them.
        zone: The time zone of the session.
        origins: The places that options were given in, where that is not the call.
        filters: The filters that Spark would push to a batch read.
    """

    options: Mapping[str, str]
    name: str = ""
    schema: StructType | None = None
    streaming: bool = False
    available_now: bool = False
    checkpoint: str = ""
    count_limit: int = COUNTED_OFFSETS
    zone: str = "UTC"
    origins: Mapping[str, str] = field(default_factory=dict)
    filters: Sequence[Filter] = ()


@dataclass(frozen=True)
class _Position:
    """The place and the extent of a read.

    Attributes:
        begins: The place where it begins, in words.
        start: Where each partition begins.
        end: Where it ends.
        available: How far it could go.
        splits: What each task reads.
        filters: The filters by which it reads fewer offsets, in words.
    """

    begins: str
    start: Offsets
    end: Offsets
    available: Offsets
    splits: Sequence[Split]
    filters: str = ""


def plan_read(request: ReadRequest, config: SourceConfig) -> JobPlan:
    """Plan a read.

    What would end a run is among the plan's problems; only brokers that do not answer are an error.

    Raises:
        UnreachableError: No broker answered.
    """
    options, admin = config.options, KafkaAdmin(config.client)
    notes: list[str] = []
    problems: list[str] = []

    def attempt(step: Callable[[], Any]) -> Any:
        try:
            return step()
        except UnreachableError:
            raise
        except MillraceError as error:
            problems.append(str(error))
            return None

    columns = attempt(lambda: read_columns(config, request.schema))
    if columns is not None and columns.problem:
        problems.append(columns.problem)
    position: _Position | None = attempt(lambda: _locate(config, request, admin, notes))
    read = PlannedRead(request.name or _topics(config), "stream" if request.streaming else "batch")
    topics = list(options.topics)
    if position is not None:
        topics = sorted({partition.topic for partition in position.start})
        counted = attempt(
            lambda: _count(config, request, admin, position, None if columns is None else columns.schema, notes)
        )
        read = _planned(read, position, counted)
    if columns is not None:
        read = replace(read, columns=columns.columns)
    return JobPlan(
        reads=(read,),
        creates=tuple(_creations(config, request)),
        permissions=tuple(_permissions(config, admin, topics)),
        options=resolved_options(config, request.options, request.origins, is_stream=request.streaming),
        notes=tuple(notes),
        problems=tuple(dict.fromkeys(problems)),
    )


def _topics(config: SourceConfig) -> str:
    options = config.options
    listed = ";".join(options.topics) or ";".join(sorted({topic for topic, _ in options.partitions}))
    return listed or f"topics that match {options.topic_pattern}"


def _locate(config: SourceConfig, request: ReadRequest, admin: KafkaAdmin, notes: list[str]) -> _Position:
    planner = Planner.connect(config)
    if not request.streaming:
        return _locate_batch(config, request, planner, admin, notes)
    state = read_checkpoint(request.checkpoint, config.options) if request.checkpoint else None
    if state is not None and state.repeated_end is not None:
        before = state.start or StreamOffset({})
        words = f"by the checkpoint: micro-batch {state.batch} was begun, and is repeated"
        return _micro_batch(config, words, before, state.repeated_end, state.repeated_end)
    if state is not None and state.start is not None:
        start_offset, words = state.start, f"by the checkpoint, with micro-batch {state.batch}"
    else:
        start_offset = planner.first_offset()
        mode = startup_initializer(config, StandardOffsets.LATEST).name
        words = f"at {mode}{', since the checkpoint is empty' if request.checkpoint else ''}"
    if config.options.check_duplicated_group:
        check_group_is_free(admin, start_offset.positions, start_offset.owner)
    available = planner.available(start_offset)
    end = planner.next_end(start_offset, available, draining=request.available_now)
    return _micro_batch(config, words, start_offset, end, available)


def _locate_batch(
    config: SourceConfig, request: ReadRequest, planner: Planner, admin: KafkaAdmin, notes: list[str]
) -> _Position:
    start, stop = planner.batch_range()
    filters = ""
    if request.filters and not config.options.filter_pushdown:
        notes.append("filters do not change what is read without option 'scan.filter-pushdown' = 'true'")
    elif request.filters and _beyond_logs(stop, admin):
        notes.append("filters change what is read when the batch has waited for its last records; not shown here")
    elif request.filters:
        pushed = PushedFilters.of(request.filters, config)
        start, stop = planner.narrowed(start, stop, pushed.conditions)
        filters = pushed.description
    mode = startup_initializer(config, StandardOffsets.EARLIEST).name
    return _Position(f"at {mode}", start, stop, stop, plan_batch(start, stop, config.options), filters)


def _beyond_logs(stop: Offsets, admin: KafkaAdmin) -> list[TopicPartition]:
    log_end = admin.end(tuple(stop))
    return [partition for partition, offset in stop.items() if log_end.get(partition, offset) < offset]


def _micro_batch(
    config: SourceConfig, begins: str, start: StreamOffset, end: StreamOffset, available: StreamOffset
) -> _Position:
    splits = [Split(split.ranges, is_stream=True) for split in plan_micro_batch(start, end, config.options)]
    return _Position(begins, end.starting_offsets(start), end.positions, available.positions, splits)


def _count(
    config: SourceConfig,
    request: ReadRequest,
    admin: KafkaAdmin,
    position: _Position,
    schema: StructType | None,
    notes: list[str],
) -> Any:
    ranges = {range_.partition: range_.end for split in position.splits for range_ in split.ranges}
    offsets = sum(len(range_) for split in position.splits for range_ in split.ranges)
    awaited = _beyond_logs({partition: position.end[partition] for partition in ranges}, admin)
    if awaited:
        notes.append(f"the batch waits until {awaited[0]} has records up to offset {position.end[awaited[0]]}")
        reason = "the batch waits for messages that are not there yet"
        messages = RowCount(offsets, False, reason)
        return bound_by_offsets(config, {}, {}, reason)._replace(messages=messages, rows=messages)
    compacted = _compacted(admin, {partition.topic for partition in ranges}, notes)
    if offsets <= request.count_limit:
        columns = None if schema is None else arrow_schema(schema)
        return count_by_reading(config, columns, request.zone, position.splits, compacted)
    reason = (
        f"topic {compacted[0]!r} is compacted, so that not every offset has a message"
        if compacted
        else f"these are offsets, more than the {request.count_limit:,} up to which messages are counted; markers of "
        f"transactions and aborted messages have offsets, too"
    )
    start = {partition: position.start[partition] for partition in ranges}
    return bound_by_offsets(config, start, {p: position.end[p] for p in ranges}, reason)


def _compacted(admin: KafkaAdmin, topics: set[str], notes: list[str]) -> list[str]:
    compacted = []
    for topic in sorted(topics):
        try:
            policy = admin.topic_config(topic).get("cleanup.policy", "")
        except ClientError:
            notes.append(f"this user may not describe the settings of topic {topic!r}: it may be compacted")
            continue
        if "compact" in policy.split(","):
            compacted.append(topic)
    return compacted


def _planned(read: PlannedRead, position: _Position, counted: Any) -> PlannedRead:
    splits = tuple(tuple(_range(range_) for range_ in split.ranges) for split in position.splits)
    ranges = tuple(
        PlannedRange(*partition, position.start[partition], end, position.available.get(partition, end) - end)
        for partition, end in sorted(position.end.items())
    )
    planned = replace(
        read,
        start=position.begins,
        filters=position.filters,
        ranges=ranges,
        splits=splits,
        # Spark gives a batch without partitions an empty one; a stream without messages has no micro-batch
        tasks=len(splits) or int(read.mode == "batch"),
    )
    if counted is None:
        return planned
    return replace(planned, messages=counted.messages, rows=counted.rows, span=counted.span)


def _range(range_: OffsetRange) -> PlannedRange:
    return PlannedRange(*range_.partition, range_.start, range_.end)


def _creations(config: SourceConfig, request: ReadRequest) -> list[PlannedCreation]:
    options, created = config.options, []
    if request.streaming and _commits(config):
        created.append(
            PlannedCreation("consumer group", str(config.client.get("group.id")), "its committed offsets, if new")
        )
    if request.streaming and options.keeps_state and options.state_location:
        created.append(PlannedCreation("folder", options.state_location, "the state of the table"))
    return created


def _commits(config: SourceConfig) -> bool:
    commits = config.options.commit_offsets
    return commits if commits is not None else config.follows_group


def _permissions(config: SourceConfig, admin: KafkaAdmin, topics: list[str]) -> list[PlannedPermission]:
    operations: Mapping[str, frozenset[str]] = {}
    try:
        operations = admin.allowed_operations(topics)
    except UnreachableError:
        raise
    except MillraceError:
        # That a topic is not there is a problem already
        pass
    needed = [PlannedPermission("topic", topic, "READ", is_allowed=_allows(operations, topic)) for topic in topics]
    group = config.client.get("group.id")
    if group is not None and config.follows_group:
        needed.append(PlannedPermission("group", str(group), "READ"))
    if config.dead_letter_collector is not None:
        collected = config.dead_letter_collector.create().topics
        needed += [PlannedPermission("topic", topic, "WRITE") for topic in collected]
    return needed


def _allows(operations: Mapping[str, frozenset[str]], topic: str) -> bool | None:
    known = operations.get(topic)
    return "READ" in known if known else None
