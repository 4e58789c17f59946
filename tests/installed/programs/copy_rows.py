"""Write rows into a topic and read them again; the argument is the options of both, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

OPTIONS = json.loads(sys.argv[1])
COLUMNS = "seconds BIGINT, nanos INT"

spark = millrace.local_session(cores=2)
rows = spark.createDataFrame([(60, 1), (120, 2)], COLUMNS)
rows.write.format("millrace").options(**OPTIONS).mode("append").save()
read = spark.read.format("millrace").options(**OPTIONS).schema(COLUMNS).load()
print(json.dumps(sorted(list(row) for row in read.collect())))
spark.stop()
