"""Run a pipeline in a driver of its own; the arguments are its YAML, its checkpoint and where to die, as JSON.

Points to die at: ``parsed``, before the schemas of a micro-batch are stored; ``stored``, before the sink hears of them;
``written``, before Spark notes that the micro-batch has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import millrace
from millrace_cdc import Pipeline
from millrace_cdc.runtime.micro_batch import MicroBatches
from millrace_cdc.runtime.state_store import StateStore

given = json.loads(sys.argv[1])
POINTS = {
    "parsed": (StateStore, "save", True),
    "stored": (StateStore, "save", False),
    "written": (MicroBatches, "process", False),
}


def die_in(kind, name, *, is_before):
    """Let the process be killed before or after a method."""
    method = getattr(kind, name)

    def deadly(self, *arguments):
        is_initial = kind is StateStore and arguments[0] < 0
        if is_initial or not is_before:
            method(self, *arguments)
        if not is_initial:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(kind, name, deadly)


settings = {
    # The JVM is started several times, and works for seconds only
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Tasks are killed again and again, and a local session tries each once
    "spark.master": "local[2,100]",
}
spark = millrace.local_session("pipeline", cores=2, config=settings)
if given.get("point"):
    owner, name, is_before = POINTS[given["point"]]
    die_in(owner, name, is_before=is_before)
running = Pipeline.from_yaml(given["yaml"]).run(
    spark, checkpoint_location=given["checkpoint"], once=given.get("once", True)
)
running.await_termination()
