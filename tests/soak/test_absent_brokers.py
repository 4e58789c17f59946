"""A broker that is absent for a minute costs a worker that has 300,000 records for it no processor time."""

from __future__ import annotations

import pytest

from millrace.kafka.producer import PRODUCERS
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker
from support.absent_brokers import ROWS, write_while_absent

ABSENT_S = 60
# The default of one minute would end the task, which Spark repeats
PATIENT = {"properties.transaction.timeout.ms": "300000"}


@pytest.mark.parametrize("absence", ["paused", "killed"])
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_a_minute_without_a_broker_costs_no_processor_time(absence, guarantee, tmp_path):
    once = {"sink.delivery-guarantee": guarantee, "properties.queue.buffering.max.messages": "400000"}
    if guarantee == "exactly-once":
        once |= {"sink.transactional-id-prefix": "absent", **PATIENT}
    with KafkaBroker(data_dir=tmp_path / "kafka") as broker:
        outcome = write_while_absent(broker, "target", absence, ABSENT_S, tmp_path, **once)
    RESOURCES.drop(PRODUCERS)
    print(f"{guarantee}, {absence}: {outcome.share:.3f} of a core")
    assert outcome.share < 0.1
    assert outcome.written == ROWS
    assert set(outcome.arrived) == set(range(ROWS))
    assert outcome.arrived.total() == ROWS
