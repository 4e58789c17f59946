"""Tell whether the records of a micro-batch are still in their logs, and are found by the time of their writing."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.contracts import TopicPartition
from millrace.errors import LedgerError

TIMESTAMP_TYPE, CLEANUP_POLICY = "message.timestamp.type", "cleanup.policy"

_COMPARE = "'sink.exactly-once.if-in-doubt' = 'compare'"
_OTHERWISE = "Start the query once as it was before, or decide by 'write' or 'skip'"


def check_topic_is_comparable(topic: str, settings: Mapping[str, str]) -> None:
    """Check that the records of a micro-batch stay in a topic, with the time at which their task wrote them.

    Args:
        topic: The topic.
        settings: Its settings, as far as this client may describe them.

    Raises:
        LedgerError: They do not, or this client may not see whether they do.
    """
    if not {TIMESTAMP_TYPE, CLEANUP_POLICY} <= settings.keys():
        raise LedgerError(
            f"{_COMPARE} is exact only if brokers of topic {topic!r} keep records and their times ('{CLEANUP_POLICY}' "
            f"and '{TIMESTAMP_TYPE}'), but this client may not see its settings: its user needs the operation "
            f"DESCRIBE_CONFIGS on the topic (an ACL). {_OTHERWISE}"
        )
    if settings[TIMESTAMP_TYPE] == "LogAppendTime":
        raise LedgerError(
            f"{_COMPARE} finds the records of a micro-batch by the time of their writing, which the brokers of topic "
            f"{topic!r} replace by their own ('{TIMESTAMP_TYPE}' = 'LogAppendTime'): with clocks that differ, records "
            f"would be written again. {_OTHERWISE}"
        )
    if "compact" in settings[CLEANUP_POLICY].split(","):
        raise LedgerError(
            f"{_COMPARE} looks for the records of a micro-batch, but topic {topic!r} is compacted: it may have lost "
            f"those that later ones with their keys replace, which would be written again, behind these. {_OTHERWISE}"
        )


def check_nothing_is_deleted(
    lows: Mapping[TopicPartition, int], starts: Mapping[TopicPartition, int], began_ms: int
) -> None:
    """Check that no record of a micro-batch can have been deleted from the beginning of its log.

    Args:
        lows: The first offset of each log.
        starts: The offset of its first record since the micro-batch began, its end if there is none.
        began_ms: That time, in ms since 1970.

    Raises:
        LedgerError: There may have been others before it.
    """
    cut = sorted(partition for partition, start in starts.items() if start == lows[partition] > 0)
    if cut:
        raise LedgerError(
            f"{_COMPARE} looks for the records of a micro-batch since it began ({began_ms} ms since 1970), but "
            f"{', '.join(map(str, cut[:10]))} have none from before that: retention or a request may have "
            f"deleted some, which would be written again. {_OTHERWISE}"
        )
