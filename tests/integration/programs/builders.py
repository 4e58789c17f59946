"""A built source and a built sink in a Spark Connect session; the argument says where, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from millrace import KafkaRecordSerializationSchema, KafkaSink, KafkaSource, OffsetsInitializer
from millrace.builders.source import KafkaSourceBuilder

given = json.loads(sys.argv[1])
first, second = given["topics"]
spark = SparkSession.builder.remote(given["remote"]).getOrCreate()


def source(topic: str) -> KafkaSourceBuilder:
    builder = KafkaSource.builder().set_bootstrap_servers(given["servers"])
    return builder.set_topics(topic).set_deserializer("json")


def sink(topic: str) -> KafkaSink:
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema("json").build()
    return KafkaSink.builder().set_bootstrap_servers(given["servers"]).set_record_serializer(schema).build()


sink(first).write(spark.range(100))
stream = source(first).build().load(spark, "id BIGINT")
query = sink(second).start(stream, checkpoint_location=given["checkpoint"], trigger={"availableNow": True})
assert query.awaitTermination(120)
batch = source(second).set_bounded(OffsetsInitializer.latest()).build().load(spark, "id BIGINT")
Path(given["results"]).write_text(json.dumps(sorted(row.id for row in batch.collect())))
spark.stop()
