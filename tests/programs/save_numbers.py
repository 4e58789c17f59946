"""Save the numbers of a topic in files, in a driver of its own; the arguments are options and folders, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

given = json.loads(sys.argv[1])
query = (
    millrace.local_session("save numbers", cores=2)
    .readStream.format("millrace")
    .options(**given["options"])
    .schema("value BINARY")
    .load()
    .selectExpr("CAST(STRING(value) AS BIGINT) AS number")
    .writeStream.format("parquet")
    .options(path=given["files"], checkpointLocation=given["checkpoint"])
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
