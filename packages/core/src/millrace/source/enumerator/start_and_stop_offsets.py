"""Where reading starts and stops, as offset initializers say."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from millrace.configuration import SourceConfig
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError, OptionsError
from millrace.kafka.admin import KafkaAdmin
from millrace.plugins.kinds import OFFSET_INITIALIZER
from millrace.plugins.manager import PluginRef, plugin_manager
from millrace.source.enumerator.data_loss import logger
from millrace.source.enumerator.stream_offset import Offsets, held

EARLIEST = "earliest-offset"
LATEST = "latest-offset"
GROUP = "group-offsets"

Partitions = tuple[TopicPartition, ...]


def starting_offsets(
    config: SourceConfig, otherwise: str, partitions: Partitions, cluster: KafkaAdmin
) -> dict[TopicPartition, int]:
    """Where a read without a checkpoint starts each partition.

    Args:
        config: How to read.
        otherwise: The initializer when neither a startup mode nor a group is given.
        partitions: What is read.
        cluster: Where it is.

    Raises:
        DataLossError: A partition has no valid offset, and no policy says where to start instead.
    """
    ref = config.startup or _standard(GROUP if config.follows_group else otherwise)
    offsets = _initialize(ref, partitions, cluster)
    begin, end = cluster.bounds(partitions)
    beyond = [partition for partition, offset in offsets.items() if offset > end[partition]]
    # A group may have read what is not visible to this query at the moment: it waits for that
    end = {**end, **cluster.end_of_log(beyond)}
    valid = {p: offset for p, offset in offsets.items() if begin[p] <= offset <= end[p]}
    missing = [partition for partition in partitions if partition not in valid]
    reset = config.options.offset_reset
    if reset == "none" and not config.options.fail_on_data_loss:
        valid |= _nearest({p: offsets[p] for p in missing if p in offsets}, begin, end)
        missing = [partition for partition in missing if partition not in valid]
    if missing and reset == "none":
        raise DataLossError(_no_start(ref.name, missing[0], len(missing), offsets.get(missing[0]), begin, end))
    bounds = begin if reset == "earliest" else end
    return {**valid, **{partition: bounds[partition] for partition in missing}}


def stopping_offsets(config: SourceConfig, start: Offsets, cluster: KafkaAdmin) -> dict[TopicPartition, int]:
    """Where a read that starts at some offsets stops, which is not beyond the ends of the logs now."""
    partitions = tuple(start)
    stop = _initialize(config.bounded or _standard(LATEST), partitions, cluster)
    return until(stop, start, cluster.end(partitions))


def until(stop: Offsets, begin: Offsets, end: Offsets) -> dict[TopicPartition, int]:
    """Ends that are not beyond where partitions stop; those that have no such offset are not read."""
    return {p: max(begin[p], min(end[p], stop.get(p, begin[p]))) for p in end}


def _initialize(ref: PluginRef, partitions: Partitions, cluster: KafkaAdmin) -> dict[TopicPartition, int]:
    offsets: Mapping[TopicPartition, int] = ref.create().offsets(partitions, cluster)
    wrong = [f"{offset} for {partition}" for partition, offset in offsets.items() if offset < 0]
    if wrong:
        raise OptionsError("source", (f"offset initializer {ref.name!r} gave offset {', '.join(wrong)}",))
    return {partition: offsets[partition] for partition in partitions if partition in offsets}


def _nearest(offsets: Offsets, begin: Offsets, end: Offsets) -> dict[TopicPartition, int]:
    found = {p: min(max(offset, begin[p]), end[p]) for p, offset in offsets.items()}
    for partition, offset in offsets.items():
        log = held(begin[partition], end[partition])
        logger.warning(
            "data is lost: %s was to start at offset %d, and the log %s. It starts at offset %d",
            partition,
            offset,
            log,
            found[partition],
        )
    return found


def _no_start(
    mode: str, partition: TopicPartition, count: int, offset: int | None, begin: Offsets, end: Offsets
) -> str:
    found = "has no offset" if offset is None else f"gives offset {offset}"
    more = f" (and {count - 1} more partitions)" if count > 1 else ""
    return (
        f"{partition}{more}: startup mode {mode!r} {found}, and the log {held(begin[partition], end[partition])}. "
        f"Say with option 'properties.auto.offset.reset' where to start instead: earliest or latest"
    )


@functools.cache
def _standard(name: str) -> PluginRef:
    manager = plugin_manager()
    options = manager.load(OFFSET_INITIALIZER, name).Options()
    return manager.refer(OFFSET_INITIALIZER, name, options)
