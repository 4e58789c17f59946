"""Run pipelines, each until it is killed or, where ``once`` says so, to the end of its topics.

Its arguments come as JSON: the files of the pipelines by their names, the folder of their checkpoints, drivers as Maven
coordinates.
"""

from __future__ import annotations

import json
import sys

import millrace
from millrace_cdc import Pipeline

given = json.loads(sys.argv[1])
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
session = millrace.local_session("copies", cores=2, config={**quick, "spark.jars.packages": given["packages"]})
running = [
    Pipeline.from_yaml(text).run(session, checkpoint_location=f"{given['checkpoints']}/{name}", once=given["once"])
    for name, text in given["files"].items()
]
for each in running:
    each.await_termination()
