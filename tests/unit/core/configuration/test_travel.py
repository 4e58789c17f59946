"""Modules that an executor imports for a configuration: not those that parse it."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys

import pytest
from tests.support.both_directions import configure

PROGRAM = """
import base64, json, pickle, sys
import millrace.source.reader.pipeline, millrace.sink.pipeline
config = pickle.loads(base64.b64decode(sys.argv[1]))
if hasattr(config, "partitioner"):
    config.partitioner.create()
else:
    config.header_filter.create()
if config.value_format:
    config.value_format.create()
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
print(config.options.topics, config.client["bootstrap.servers"])
"""


@pytest.mark.parametrize("side", ["source", "sink"])
def test_an_executor_reads_its_configuration_without_the_parser(side: str) -> None:
    configured = configure(
        {
            "properties.bootstrap.servers": "h:1",
            "topic": "a",
            "format": "json",
            "json.ignore-parse-errors": "true",
            "scan.header-filter": "a:b",
            "scan.startup.mode": "earliest-offset",
            "sink.partitioner": "fixed",
        }
    )
    sent = base64.b64encode(pickle.dumps(getattr(configured, side))).decode()
    run = subprocess.run([sys.executable, "-c", PROGRAM, sent], capture_output=True, text=True, check=True)
    modules, config = run.stdout.splitlines()
    assert config == "('a',) h:1"
    assert {"pydantic", "pydantic_core", "lark", "click", "rich"}.isdisjoint(json.loads(modules))
    assert "confluent_kafka" in json.loads(modules)
