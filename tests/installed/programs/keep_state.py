"""Turn upserts into changes in Spark's state store, and print them; the argument is the table's options as JSON."""

from __future__ import annotations

import json
import sys
import tempfile

import millrace

ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
COLUMNS = "row_kind STRING, id BIGINT, name STRING"

spark = millrace.local_session(cores=2, config={"spark.sql.streaming.stateStore.providerClass": ROCKS_DB})
upserts = spark.readStream.format("millrace").options(**json.loads(sys.argv[1])).schema(COLUMNS).load()
with tempfile.TemporaryDirectory() as folder:
    changes = millrace.normalize_upserts(upserts, "id").writeStream.format("memory").queryName("changes")
    changes.option("checkpointLocation", folder).trigger(availableNow=True).start().awaitTermination()
    print(json.dumps(sorted(list(row) for row in spark.table("changes").collect())))
    spark.stop()
