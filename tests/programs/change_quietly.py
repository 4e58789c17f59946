"""Change a table row by row, and read its changes on a cluster, a micro-batch each; the argument says where, as JSON.

The results go to a file as JSON: the metrics of the source, and the seconds of each micro-batch but the first.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import millrace
from support.kafka import produce
from support.waiting import wait_until

given = json.loads(sys.argv[1])
folder, partitions = Path(given["folder"]), range(given["partitions"])


def write(ids: range, version: int) -> int:
    """Write some rows to each partition, and return how many."""
    rows = [(id_ * len(partitions) + partition, partition) for id_ in ids for partition in partitions]
    values = ({"id": id_, "name": f"version {version} of a row of {id_}, {'x' * 80}"} for id_, _ in rows)
    messages = [
        {"key": b'{"id":%d}' % id_, "value": json.dumps(value).encode(), "partition": partition}
        for (id_, partition), value in zip(rows, values, strict=True)
    ]
    produce(given["servers"], given["topic"], messages)
    return len(messages)


builder = SparkSession.builder.master(given["master"])
for name, value in given["config"].items():
    builder = builder.config(name, value)
# Counts are told with the progress after their micro-batch: that of an idle query comes every 10 seconds by default
spark = builder.config("spark.sql.streaming.noDataProgressEventInterval", "100").getOrCreate()
options = {
    "properties.bootstrap.servers": given["servers"],
    "connector": "upsert-kafka",
    "topic": given["topic"],
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
    "state.checkpoints.dir": str(folder / "state"),
}
changes = (
    spark.readStream.format("millrace").options(**options).schema("row_kind STRING, id BIGINT, name STRING").load()
)
query = changes.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint")).start()
written = write(range(given["rows"]), 0)
query.processAllAvailable()
seconds = []
for version in range(given["micro_batches"]):
    began = time.monotonic()
    written += write(range(1), version + 1)
    query.processAllAvailable()
    seconds.append(time.monotonic() - began)
wait_until(lambda: millrace.metrics(query).sources[0].num_records_in >= written, "all counts")
source = millrace.metrics(query).sources[0]
query.stop()
Path(given["results"]).write_text(json.dumps({"source": source.to_dict(), "seconds": seconds, "written": written}))
spark.stop()
