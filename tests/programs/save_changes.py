"""Save the changes of an upsert table, a file for each micro-batch, in a driver of its own; arguments as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import millrace

given = json.loads(sys.argv[1])
folder = Path(given["files"])


def save(batch, number):
    """Write the changes of a micro-batch; again the same file when it is repeated."""
    rows = [list(row) for row in batch.collect()]
    unfinished = folder / f"{number}.unfinished"
    unfinished.write_text(json.dumps(rows))
    unfinished.rename(folder / f"{number}.json")


query = (
    millrace.local_session("save changes", cores=2, config={"spark.master": "local[2,6]"})
    .readStream.format("millrace")
    .options(**given["options"])
    .schema("row_kind STRING, id BIGINT, name STRING")
    .load()
    .writeStream.foreachBatch(save)
    .option("checkpointLocation", given["checkpoint"])
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
