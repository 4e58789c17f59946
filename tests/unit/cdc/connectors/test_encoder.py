"""Records of changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import PipelineTable
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.kafka.encoder import EncoderSettings, RecordEncoder
from millrace_cdc.connectors.kafka.messages import MessageSettings

TABLES = {
    name: PipelineTable(name, to_spark_schema(parse_schema("id BIGINT, name STRING")), key)
    for name, key in (("shop.orders", ("id",)), ("shop.logs", ()))
}
CHANGES = pa.record_batch(
    {
        "table": ["shop.orders", "shop.logs", "shop.orders"],
        "operation": ["c", "c", "d"],
        "before": pa.array([None, None, b'{"id":7,"name":"b"}'], pa.binary()),
        "after": pa.array([b'{"id":7,"name":"a"}', b'{"id":8,"name":"c"}', None], pa.binary()),
    }
)


@pytest.mark.parametrize(("uses_first", "partition"), [(True, 0), (False, None)])
@pytest.mark.parametrize(("key_format", "key"), [("json", b'{"id":7}'), ("csv", b"7")])
def test_a_record_has_the_topic_the_partition_and_the_key_of_its_table(uses_first, partition, key_format, key):
    settings = EncoderSettings(
        MessageSettings(key_format=key_format), uses_first, {"shop.orders": "orders", "shop.logs": "shop.logs"}
    )
    (batch,) = RecordEncoder(settings, TABLES).encode(iter([CHANGES]))
    found = [tuple(row[name] for name in ("topic", "partition", "key")) for row in batch.to_pylist()]
    # Without a partition the client takes the one of the key's hash, as Java's does
    assert found == [("orders", partition, key), ("shop.logs", partition, None), ("orders", partition, key)]
