"""Run a pipeline until it is killed or, where ``once`` says so, to the end of its topics.

Its arguments come as JSON: the file of the pipeline, the folder of its checkpoint, and the paths of jars.
"""

from __future__ import annotations

import json
import sys

import millrace
from millrace_cdc import Pipeline

given = json.loads(sys.argv[1])
settings = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "700m",
    "spark.jars": ",".join(given["jars"]),
}
session = millrace.local_session("copies", cores=2, config=settings)
pipeline = Pipeline.from_yaml(given["file"])
pipeline.run(
    session, checkpoint_location=given["checkpoint"], once=given["once"], interval=None if given["once"] else "1 second"
).await_termination()
