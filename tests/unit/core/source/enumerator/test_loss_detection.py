from __future__ import annotations

import pytest

from millrace.checkpoint import StreamOffset
from millrace.contracts import TopicPartition
from millrace.source.enumerator.loss_detection import find_losses
from millrace.source.enumerator.subscriber import SubscribedPartitions

OLD = TopicPartition("orders", 0)
TIMES, AUDIT = TopicPartition("times", 0), TopicPartition("audit", 0)


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ((TIMES,), "the query reads topic 'times': 'checkpointLocation' is another query's, or the topics of this"),
        ((AUDIT, TIMES), "the query reads 2 others, such as 'audit': 'checkpointLocation' is another query's"),
        ((TopicPartition("orders", 1),), "is gone: its topic was deleted"),
        ((), "is gone: its topic was deleted"),
    ],
)
def test_a_checkpoint_of_other_topics_is_told_from_partitions_that_are_gone(
    now: tuple[TopicPartition, ...], reason: str
) -> None:
    (loss,) = find_losses(StreamOffset({OLD: 5}), SubscribedPartitions(now, {}), {}, {})

    assert (loss.partition, loss.resume) == (OLD, None)
    assert reason in loss.reason
