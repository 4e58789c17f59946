"""Determine starting and stopping offsets by offset initializers.

See "Starting offset" and "Boundedness" in the documentation of Flink's Kafka connector.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from millrace.checkpoint import Offsets
from millrace.configuration import SourceConfig
from millrace.contracts import StandardOffsets, TopicPartition
from millrace.errors import DataLossError, OptionsError
from millrace.kafka.admin import KafkaAdmin
from millrace.plugins.kinds import OFFSET_INITIALIZER
from millrace.plugins.manager import PluginRef, plugin_manager
from millrace.source.data_loss_messages import describe_log, logger
from millrace.source.enumerator.log_snapshot import LogSnapshot

_WAITING_PAUSE_S, _WAITING_WARNING_S = 1.0, 60.0

Partitions = tuple[TopicPartition, ...]


def starting_offsets(
    config: SourceConfig, default_mode: str, partitions: Partitions, logs: LogSnapshot
) -> dict[TopicPartition, int]:
    """Return where a read without a checkpoint starts each partition.

    Args:
        config: How to read.
        default_mode: The initializer when neither a startup mode nor a group is given.
        partitions: What is read.
        logs: Their logs.

    Raises:
        DataLossError: A partition has no valid offset, and no policy says where to start instead.
    """
    initializer = startup_initializer(config, default_mode)
    offsets = _initialize(initializer, partitions, logs)
    begin, end, *_ = logs.bounds
    beyond_end = [partition for partition, offset in offsets.items() if offset > end[partition]]
    # A group may have read what is not visible to this query at the moment: it waits for that
    end = {**end, **logs.high_watermarks(beyond_end)}
    valid = {p: offset for p, offset in offsets.items() if begin[p] <= offset <= end[p]}
    reset = config.options.offset_reset
    if reset == "none" and not config.options.fail_on_data_loss:
        valid |= _move_into_log({p: offset for p, offset in offsets.items() if p not in valid}, begin, end)
    missing = [partition for partition in partitions if partition not in valid]
    if missing and reset == "none":
        raise DataLossError(_no_valid_offset(initializer.name, missing, offsets, begin, end))
    bounds = begin if reset == "earliest" else end
    return {**valid, **{partition: bounds[partition] for partition in missing}}


def startup_initializer(config: SourceConfig, default_mode: str) -> PluginRef:
    """Return what says where a read without a checkpoint starts; arguments as of `starting_offsets`."""
    mode = StandardOffsets.GROUP if config.follows_group else default_mode
    return config.startup or _standard_initializer(mode)


def stopping_offsets(config: SourceConfig, start: Offsets, logs: LogSnapshot) -> dict[TopicPartition, int]:
    """Return where a read that starts at some offsets stops, which may be beyond the ends of the logs now."""
    partitions = tuple(start)
    stop = _initialize(config.bounded or _standard_initializer(StandardOffsets.LATEST), partitions, logs)
    return {partition: max(offset, stop.get(partition, offset)) for partition, offset in start.items()}


def wait_for_stopping_offsets(
    stop: Offsets, admin: KafkaAdmin, *, clock: Callable[[], float], pause: Callable[[float], None]
) -> None:
    """Return when all logs reach to where a batch stops; warn at once and each minute of what is waited for."""
    next_warning = clock()
    while True:
        end = admin.end(tuple(stop))
        missing = [partition for partition in stop if end[partition] < stop[partition]]
        if not missing:
            return
        if clock() >= next_warning:
            first = missing[0]
            logger.warning(
                "waiting for the records of %s up to offset %d, where option 'scan.bounded.mode' lets the batch stop; "
                "its log ends at %d (%d partitions are waited for). Leave that option out to read what is there",
                first,
                stop[first],
                end[first],
                len(missing),
            )
            next_warning = clock() + _WAITING_WARNING_S
        pause(_WAITING_PAUSE_S)


def limit_to_stop(stop: Offsets, begin: Offsets, end: Offsets) -> dict[TopicPartition, int]:
    """Return ends that are not beyond where partitions stop; those that have no such offset are not read."""
    return {p: max(begin[p], min(end[p], stop.get(p, begin[p]))) for p in end}


def _initialize(initializer: PluginRef, partitions: Partitions, logs: LogSnapshot) -> dict[TopicPartition, int]:
    offsets: Mapping[TopicPartition, int] = initializer.create().offsets(partitions, logs)
    negative = [f"{offset} for {partition}" for partition, offset in offsets.items() if offset < 0]
    if negative:
        problem = f"offset initializer {initializer.name!r} gave offset {', '.join(negative)}"
        raise OptionsError("source", (problem,))
    return {partition: offsets[partition] for partition in partitions if partition in offsets}


def _move_into_log(offsets: Offsets, begin: Offsets, end: Offsets) -> dict[TopicPartition, int]:
    moved = {p: min(max(offset, begin[p]), end[p]) for p, offset in offsets.items()}
    for partition, offset in offsets.items():
        logger.warning(
            "data is lost: %s was to start at offset %d, and the log %s. It starts at offset %d",
            partition,
            offset,
            describe_log(begin[partition], end[partition]),
            moved[partition],
        )
    return moved


def _no_valid_offset(mode: str, missing: list[TopicPartition], offsets: Offsets, begin: Offsets, end: Offsets) -> str:
    partition, offset = missing[0], offsets.get(missing[0])
    more = f" (and {len(missing) - 1} more partitions)" if len(missing) > 1 else ""
    return (
        f"{partition}{more}: startup mode {mode!r} {'has no offset' if offset is None else f'gives offset {offset}'}, "
        f"and the log {describe_log(begin[partition], end[partition])}. Say with option "
        f"'properties.auto.offset.reset' where to start instead: earliest or latest"
    )


@functools.cache
def _standard_initializer(name: str) -> PluginRef:
    manager = plugin_manager()
    options = manager.load(OFFSET_INITIALIZER, name).Options()
    return manager.refer(OFFSET_INITIALIZER, name, options)
