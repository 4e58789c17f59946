"""Formats whose libraries are extras: each works in an environment with its extra alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.kafka import consume

PROGRAM = Path(__file__).parent / "programs" / "copy_rows.py"
ON_REGISTRY = ("avro-confluent", "json-confluent", "protobuf-confluent")
OPTIONS = {"protobuf": {"protobuf.message-class-name": "google.protobuf.timestamp_pb2:Timestamp"}}


@pytest.fixture
def options(connection, make_topic, request):
    """Return the options of a format, on a topic of its own."""

    def make(name: str) -> dict[str, str]:
        registry = {f"{name}.url": request.getfixturevalue("registry").url} if name in ON_REGISTRY else {}
        return {**connection, "topic": make_topic(), "format": name, **registry, **OPTIONS.get(name, {})}

    return make


@pytest.mark.parametrize("name", ["avro", "protobuf", *ON_REGISTRY])
def test_rows_are_written_and_read_with_its_extra(with_extra, options, name, broker, tmp_path, request):
    given = options(name)

    shown = with_extra(name).output("python", PROGRAM, json.dumps(given), cwd=tmp_path)

    assert json.loads(shown.splitlines()[-1]) == [[60, 1], [120, 2]]
    messages = [each.value() for each in consume(broker.bootstrap_servers, given["topic"])]
    assert len(messages) == 2
    if name in ON_REGISTRY:
        # The mark of messages that name their schema
        assert {message[:1] for message in messages} == {b"\0"}
        assert request.getfixturevalue("registry").versions(f"{given['topic']}-value") == 1


@pytest.mark.parametrize("name", ["avro", "protobuf", *ON_REGISTRY])
def test_without_its_extra_an_error_names_it(plain, options, name, tmp_path):
    given = options(name)
    topic, servers, format_ = (given.pop(each) for each in ("topic", "properties.bootstrap.servers", "format"))
    more = [f"--option={key}={value}" for key, value in given.items()]
    schema = ("--schema", "seconds BIGINT, nanos INT")

    done = plain.run(
        "millrace", "peek", topic, "--bootstrap-servers", servers, "--format", format_, *schema, *more, cwd=tmp_path
    )

    assert done.returncode == 1
    (sentence,) = done.stderr.splitlines()
    assert f"pip install 'millrace-formats[{name}]'" in sentence
