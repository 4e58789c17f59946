"""The settings of a session that writes exactly once."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from millrace.spark.division import STATELESS_ADAPTIVE_EXECUTION
from support.kafka import consume, produce


def test_a_session_that_divides_by_the_number_of_cores_is_refused(spark, connection, broker, make_topic, tmp_path):
    source, topic = make_topic(2), make_topic(2)
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": topic}
    produce(broker.bootstrap_servers, source, [{"value": b"a"}])
    read = {**connection, "topic": source, "scan.startup.mode": "earliest-offset"}
    rows = spark.readStream.format("millrace").options(**read).load().select("value")
    writer = rows.writeStream.format("millrace").options(**connection, topic=topic, **guarantee)
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    spark.conf.set(STATELESS_ADAPTIVE_EXECUTION, "true")
    try:
        with pytest.raises(StreamingQueryException, match=STATELESS_ADAPTIVE_EXECUTION):
            writer.start().awaitTermination()
    finally:
        spark.conf.set(STATELESS_ADAPTIVE_EXECUTION, "false")
    assert consume(broker.bootstrap_servers, topic) == []
    writer.start().awaitTermination()
    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"a"]
