"""The pytest plugins of millrace_broker and millrace_cli: the examples of README and docs run as they stand."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.distributions import ROOT, install_own_metadata

README = ROOT / "packages" / "broker" / "README.md"
PAGE = ROOT / "docs" / "testing.md"

SAME_BROKER = """
def test_the_session_has_one_broker(millrace_kafka_broker):
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": millrace_kafka_broker.bootstrap_servers})
    assert "orders" in admin.list_topics(timeout=10).topics
"""


def blocks() -> tuple[str, str]:
    script, test = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    return script, test


REGISTRY = """
import json
import urllib.request

import pytest
from confluent_kafka.admin import AdminClient

import millrace

topics = []


@pytest.mark.millrace_recording("registered.jsonl", shift_time=True)
def test_messages_have_the_schemas_of_the_registry(millrace_kafka_broker, millrace_registry, millrace_topic):
    topics.append(millrace_topic)
    kafka = {"properties.bootstrap.servers": millrace_kafka_broker.bootstrap_servers, "topic": millrace_topic}
    format_ = {"format": "avro-confluent", "avro-confluent.url": millrace_registry.url, "metadata.columns": "timestamp"}
    rows = millrace.read_arrow({**kafka, **format_}).read().read_all()
    assert rows["id"].to_pylist() == [21]
    with urllib.request.urlopen(f"{millrace_registry.url}/subjects") as answer:
        assert json.load(answer) == [f"{millrace_topic}-value"]


def test_without_a_mark_a_topic_is_empty_and_those_before_are_gone(millrace_kafka_broker, millrace_topic):
    admin = AdminClient({"bootstrap.servers": millrace_kafka_broker.bootstrap_servers})
    assert len(admin.list_topics(timeout=10).topics[millrace_topic].partitions) == 1
    assert not topics[0] in admin.list_topics(timeout=10).topics


@pytest.mark.millrace_recording("registered.jsonl")
def test_a_recording_needs_a_topic():
    pass
"""

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
REGISTERED = [
    {"recording": {"version": 1, "topic": "orders", "partitions": 1}},
    {"schema": {"part": "value", "id": 900, "subject": "orders-value", "type": "AVRO", "schema": json.dumps(ORDER)}},
    {"value_base64": base64.b64encode(b"\0\0\0\x03\x84\x2a").decode(), "timestamp": "2020-01-01T00:00:00Z"},
]


@pytest.fixture
def run_tests(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run tests in a process of their own, with the plugins as they are declared."""
    for package in ("broker", "cli"):
        install_own_metadata(tmp_path / "installed", package)

    def run_tests(*files: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (str(tmp_path / "installed"), os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *files],
            env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run_tests


def test_the_readmes_test_passes_with_the_installed_plugin(tmp_path: Path, run_tests) -> None:
    (tmp_path / "test_a_readme.py").write_text(blocks()[1])
    (tmp_path / "test_b_session.py").write_text(SAME_BROKER)
    done = run_tests("test_a_readme.py", "test_b_session.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_recording_is_replayed_into_the_topic_of_a_test(tmp_path: Path, run_tests) -> None:
    _, example = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (recording,) = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "test_docs.py").write_text(example)
    (tmp_path / "orders.jsonl").write_text(recording)
    done = run_tests("test_docs.py")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.nightly
def test_a_test_gets_the_schemas_of_a_recording_in_its_registry(tmp_path: Path, run_tests) -> None:
    (tmp_path / "test_registry.py").write_text(REGISTRY)
    (tmp_path / "registered.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in REGISTERED))
    done = run_tests("test_registry.py")
    assert "2 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "@pytest.mark.millrace_recording replays into the topic of the fixture millrace_topic: add it" in done.stdout


def test_the_readmes_script_runs(capsys) -> None:
    exec(compile(blocks()[0], README.name, "exec"), {})
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", capsys.readouterr().out)
