"""Causes that topics and groups show, from outside a query: what its next micro-batch would be, and why it is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millrace.checkpoint import Offsets, StreamOffset
from millrace.configuration import SourceConfig
from millrace.contracts import StandardOffsets
from millrace.errors import (
    ClientError,
    DataLossError,
    GroupInUseError,
    MillraceError,
    UnknownTopicError,
    UnreachableError,
)
from millrace.idle.model import Cause, CauseKind
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.consumer_group import check_group_is_free
from millrace.source.enumerator.planner import Planner
from millrace.source.enumerator.start_and_stop_offsets import startup_initializer

UNREACHABLE_REMEDY = "see whether the brokers run and can be reached from here: millrace doctor names what is wrong"

_REMEDIES: Mapping[type[MillraceError], tuple[CauseKind, str]] = {
    UnreachableError: (CauseKind.UNREACHABLE, UNREACHABLE_REMEDY),
    UnknownTopicError: (
        CauseKind.TOPIC_MISSING,
        "check the name; if it is right, let the administrator create the topic, or allow DESCRIBE and READ on it",
    ),
    DataLossError: (CauseKind.DATA_LOSS, "see what the message says"),
    GroupInUseError: (CauseKind.GROUP, "stop the other query, or give this one a group of its own"),
}


def causes_of_topics(config: SourceConfig, position: StreamOffset | None) -> list[Cause]:
    """Return the causes that topics and groups show.

    Args:
        config: How the query reads.
        position: How far it has read; None for a query that has not begun.
    """
    planner = Planner.connect(config)
    try:
        start = position or planner.first_offset()
        available = planner.available(start)
        admin = KafkaAdmin(config.client)
        if config.options.check_duplicated_group:
            check_group_is_free(admin, start.positions, start.owner)
    except MillraceError as error:
        return [_refusal(error)]
    behind = planner.progress().high_watermarks
    backlog = total(start.positions, available.positions)
    if behind:
        held = {p: high - available.positions[p] for p, high in behind.items()}
        return [open_transactions(held)]
    if backlog:
        waiting = f"{backlog:,} offsets are there to be read, which the query has not read"
        return [Cause(CauseKind.BEHIND, waiting, "see whether it runs", {"unread offsets": backlog})]
    return _caught_up(config, admin, start, is_new=position is None)


def _refusal(error: MillraceError) -> Cause:
    for kind, (cause, remedy) in _REMEDIES.items():
        if isinstance(error, kind):
            return Cause(cause, str(error), remedy)
    if isinstance(error, ClientError) and "uthoriz" in str(error):
        return Cause(CauseKind.NOT_AUTHORIZED, str(error), "let the administrator allow READ: millrace doctor names it")
    return Cause(CauseKind.REFUSED, str(error), "see what the message says")


def _caught_up(config: SourceConfig, admin: KafkaAdmin, start: StreamOffset, *, is_new: bool) -> list[Cause]:
    causes = []
    mode = startup_initializer(config, StandardOffsets.LATEST).name
    if is_new and mode == StandardOffsets.GROUP:
        causes.append(_group_at_end(admin, start))
    ends = {str(partition): offset for partition, offset in start.positions.items()}
    message = "the query has read all that there is, and nothing was written since"
    if is_new and mode == StandardOffsets.LATEST:
        message = "a new query begins at the latest offsets (scan.startup.mode), and nothing was written since"
    elif is_new:
        message = f"a new query that begins at {mode} has nothing to read"
    remedy = "check that the producer writes, and to this topic of this cluster"
    if is_new:
        remedy += "; to read what is there, set scan.startup.mode to earliest-offset"
    return [*causes, Cause(CauseKind.NO_NEW_OFFSETS, message, remedy, {"position": ends, "end of the topics": ends})]


def _group_at_end(admin: KafkaAdmin, start: StreamOffset) -> Cause:
    group, members = admin.group, _quietly(admin.group_members)
    committed = _quietly(lambda: admin.committed(tuple(start.positions))) or {}
    evidence: dict[str, Any] = {
        "group": group,
        "committed offsets": {str(partition): offset for partition, offset in committed.items()},
        "end of the topics": {str(partition): offset for partition, offset in start.positions.items()},
    }
    if members:
        evidence["live members"] = members
    return Cause(
        CauseKind.GROUP,
        f"the query begins where consumer group {group!r} is, and that has read everything",
        "if another application has read for this group, give the query a group of its own by properties.group.id; to "
        "read what is there, set scan.startup.mode to earliest-offset",
        evidence,
    )


def _quietly(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except MillraceError:
        return None


def open_transactions(held: Offsets) -> Cause:
    """Return the cause that messages are behind open transactions.

    Args:
        held: The number of offsets of each partition that cannot be read yet.
    """
    first = min(held)
    return Cause(
        CauseKind.OPEN_TRANSACTIONS,
        f"{sum(held.values()):,} offsets are behind open transactions, and the query reads committed messages alone",
        "wait for the producer to end its transaction, or for the brokers, which abort it after its "
        "transaction.timeout.ms. A query of millrace that was killed ends its own when it is started again. To see the "
        f"producers: kafka-transactions.sh --bootstrap-server HOST:PORT describe-producers --topic {first.topic} "
        f"--partition {first.partition}",
        {"offsets behind open transactions": {str(partition): count for partition, count in held.items()}},
    )


def total(start: Offsets, end: Offsets) -> int:
    """Return the number of offsets between two positions."""
    return sum(max(0, offset - start.get(partition, offset)) for partition, offset in end.items())
