"""Programs that create a session of their own, in an environment that is not activated."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.kafka import produce

PROGRAM = """\
import sys
import millrace
from pyspark.sql import SparkSession

loopback = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
builder = SparkSession.builder.config(map=loopback).config("spark.ui.enabled", "false")
spark = builder.BUILDER.getOrCreate()
kafka = {"properties.bootstrap.servers": sys.argv[1], "topic": sys.argv[2], "format": "raw"}
rows = spark.read.format("millrace").options(**kafka).load()
print(sorted(bytes(row.value) for row in millrace.repartition_by_key(rows, "value").collect()))
"""


@pytest.mark.parametrize("builder", ["master('local[1]')", "remote('local[1]')"], ids=["classic", "connect"])
def test_spark_starts_the_python_of_a_program_that_imports_millrace(builder, broker, make_topic, tmp_path):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": b"a"}, {"value": b"b"}])
    (tmp_path / "python3").write_text("#!/bin/sh\necho 'another Python' >&2\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    chosen = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in chosen}
    environment["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    # With it, Spark's local Connect server takes any port that is free, not always the same one
    environment["SPARK_TESTING"] = "1"

    (tmp_path / "job.py").write_text(PROGRAM.replace("BUILDER", builder))
    command = [sys.executable, tmp_path / "job.py", broker.bootstrap_servers, topic]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "[b'a', b'b']"
