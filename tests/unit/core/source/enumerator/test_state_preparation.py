"""The state of a table before the first message of each partition."""

from __future__ import annotations

from pathlib import Path

from millrace.checkpoint import StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.source.enumerator.state_preparation import StatePreparation
from millrace.source.splits import OffsetRange, Split
from millrace.source.state_files import StateFiles

OPTIONS = {
    "connector": "upsert-kafka",
    "topic": "orders",
    "properties.bootstrap.servers": "nowhere:1",
    "key.format": "json",
    "value.format": "json",
    "key.fields": "id",
}
FULL, EMPTY, LATER = (TopicPartition("orders", number) for number in range(3))


def test_a_partition_that_is_empty_in_the_first_micro_batch_begins_with_it_too(tmp_path: Path) -> None:
    config = configure_source({**OPTIONS, "state.checkpoints.dir": str(tmp_path)})
    first = StreamOffset({FULL: 3, EMPTY: 7}, owner="me")
    end = StreamOffset({FULL: 5, EMPTY: 7}, start_overrides=first.positions, owner="me")
    further = StreamOffset({FULL: 5, EMPTY: 7, LATER: 2}, owner="me")
    preparation = StatePreparation(config.options)

    preparation.prepare(first, end, [Split((OffsetRange(FULL, 3, 5),))])
    preparation.prepare(end, further, [Split((OffsetRange(LATER, 1, 2),))])

    files = StateFiles(str(tmp_path), "me")
    begins = {partition: files.list_partition(partition).snapshots[0].version for partition in (FULL, EMPTY, LATER)}
    assert begins == {FULL: 3, EMPTY: 7, LATER: 1}
