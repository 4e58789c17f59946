"""A driver of its own that counts the records of a batch read; its argument is the options, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

config = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
spark = millrace.local_session("read until", cores=1, config=config)
print(spark.read.format("millrace").options(**json.loads(sys.argv[1])).load().count(), flush=True)
