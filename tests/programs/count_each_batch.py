"""A driver of its own that counts a topic's numbers, and writes counts and changes to two topics for each micro-batch.

Its argument is options, as JSON. The process waits between the two writes as often as there are files in a folder.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import millrace

given = json.loads(sys.argv[1])
spark = millrace.local_session("count each batch", cores=2, config={"spark.sql.shuffle.partitions": "3"})
spark.sparkContext.addPyFile(given["kill_points"])


def wait_for_the_kill():
    for token in Path(given["between"]).glob("token-*"):
        token.rename(token.with_name(f"used-{token.name}"))
        time.sleep(3600)


def write(batch, number):
    counts = batch.selectExpr("concat(remainder, ':', count) AS value")
    counts.write.format("millrace").options(**given["counts"]).mode("append").save()
    wait_for_the_kill()
    changes = batch.selectExpr(f"concat({number}, ':', remainder) AS value")
    changes.write.format("millrace").options(**given["changes"]).mode("append").save()


numbers = spark.readStream.format("millrace").options(**given["read"]).load()
counted = numbers.selectExpr("CAST(STRING(value) AS BIGINT) % 10 AS remainder").groupBy("remainder").count()
query = counted.writeStream.outputMode("update").foreachBatch(write).trigger(availableNow=True)
query.option("checkpointLocation", given["checkpoint"]).start().awaitTermination()
