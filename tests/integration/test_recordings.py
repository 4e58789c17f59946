"""Recordings of topics: record, replay, and the same topic again, byte by byte."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Message

from millrace.kafka.retry import Clock
from millrace.options.secrets import Properties
from millrace_cli.recordings.files import open_recording
from millrace_cli.recordings.replay import RecordingReplay, replay_recording
from support.command_line import run_command
from support.kafka import commit_offsets, consume, produce, wait_for_markers
from support.names import unique_name
from support.registry import SchemaRegistry
from unit.formats.avro.datums import encoded

PARTITIONS = 3
AT = 1_764_255_605_123
HEADERS = [("a", b"1"), ("a", None), ("b", b"\xff"), ("", b"")]


def records(count: int = 300) -> list[dict[str, Any]]:
    """Return messages with all that Kafka has: no key, no value, repeated headers, bytes that are no text."""
    values = [b'{"id": 1}', None, b"\0\xff", b"", "ä\u2028".encode()]
    return [
        {
            "key": None if number % 7 == 0 else f"k{number % 11}".encode(),
            "value": values[number % len(values)],
            "headers": HEADERS[: number % 5],
            "timestamp": AT + (number * 37) % 1_000,
            "partition": number % PARTITIONS,
        }
        for number in range(count)
    ]


def content(message: Message) -> tuple[Any, ...]:
    return (
        message.partition(),
        message.key(),
        message.value(),
        message.headers() or None,
        message.timestamp(),
    )


def committed(broker: Any, topic: str) -> list[Message]:
    wait_for_markers(broker.bootstrap_servers, topic)
    return consume(broker.bootstrap_servers, topic)


@pytest.fixture
def run(broker: Any) -> Callable[..., str]:
    """Run a command on the broker; returns what it prints."""

    def run(name: str, *arguments: object, code: int = 0) -> str:
        ended = run_command(name, *arguments, "--bootstrap-servers", broker.bootstrap_servers)
        assert ended.exit_code == code, ended.output
        return ended.output

    return run


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_topic_is_the_same_after_record_and_replay(
    form: str, broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    source, target = make_topic(PARTITIONS), make_topic(PARTITIONS)
    produce(broker.bootstrap_servers, source, records())
    file = tmp_path / f"sample.{form}"

    assert run("record", source, file) == f"millrace: 300 messages in {file}\n"
    batches = list(open_recording(file).batches())
    places = [(row["partition"], row["offset"]) for batch in batches for row in batch.to_pylist()]
    assert places == [(partition, offset) for partition in range(PARTITIONS) for offset in range(300 // PARTITIONS)]
    printed = run("replay", file, "--topic", target, "--keep-partitions", "--transaction-size", "70")
    assert printed.endswith(f"replayed 300 of 300 messages to {target}\n")

    written = list(map(content, committed(broker, source)))
    assert len(written) == 300
    assert list(map(content, committed(broker, target))) == written

    # Once, unless it is to be repeated
    assert "replayed 0 of 300 messages" in run("replay", file, "--topic", target, "--keep-partitions")
    assert "replayed 300 of 300" in run("replay", file, "--topic", target, "--keep-partitions", "--again")
    assert len(committed(broker, target)) == 600


def test_messages_of_other_partitions_are_written_by_their_keys_in_the_order_of_their_times(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    source, target = make_topic(PARTITIONS), make_topic(1)
    made = [{**record, "timestamp": AT + number} for number, record in enumerate(records(50))]
    produce(broker.bootstrap_servers, source, made)
    run("record", source, tmp_path / "sample.parquet")
    run("replay", tmp_path / "sample.parquet", "--topic", target)

    assert [message.timestamp()[1] for message in committed(broker, target)] == [record["timestamp"] for record in made]
    refused = run("replay", tmp_path / "sample.parquet", "--topic", target, "--keep-partitions", "--again", code=1)
    assert "has 1 partitions, the recorded one has 3: create a topic with as many" in refused


def test_times_a_condition_and_a_limit_select_messages(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    topic, now = make_topic(2), int(time.time() * 1000)
    produce(
        broker.bootstrap_servers,
        topic,
        [
            {"key": b"%d" % number, "value": json.dumps({"id": number}).encode(), "timestamp": now - 60_000 * number}
            for number in range(120)
        ],
    )
    file = tmp_path / "sample.jsonl"

    def ids(*arguments: object) -> list[int]:
        run("record", topic, file, *arguments)
        return sorted(json.loads(message.value or b"")["id"] for message in open_recording(file).messages())

    assert set(range(60)) >= set(ids("--from", "30 min")) >= set(range(29))
    assert ids("--where", "id IN (7, 100) AND partition >= 0", "--format", "json", "--schema", "id BIGINT") == [7, 100]
    assert ids("--where", "id >= 118 AND key <> '119'") == [118]
    assert len(ids("--limit", "5")) == 5
    assert "--format and --schema are for --where" in run("record", topic, file, "--format", "json", code=2)
    assert "expected a time such as" in run("record", topic, file, "--from", "soon", code=2)


def test_a_change_with_two_rows_is_recorded_once(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    topic = make_topic(1)
    changes = [{"op": "u", "before": {"id": number}, "after": {"id": number}} for number in range(3)]
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(change).encode()} for change in changes])
    arguments = ("--format", "debezium-json", "--schema", "id BIGINT", "--where", "id > 0")
    assert run("record", topic, tmp_path / "sample.parquet", *arguments).startswith("millrace: 2 messages")
    table = pq.read_table(tmp_path / "sample.parquet")
    assert [json.loads(value) for value in table["value"].to_pylist()] == changes[1:]


def test_masks_are_in_the_file_and_in_what_is_printed(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    topic, file = make_topic(1), tmp_path / "sample.jsonl"
    orders = [{"email": "jane@acme.com", "card": 4111111111111111, "iban": "DE1"}] * 2
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(order).encode()} for order in orders])
    printed = run("record", topic, file, "--mask", "email,card,field:iban")
    assert printed.endswith("; masked card 2 times; masked email 2 times; masked field 2 times\n")
    values = [json.loads(message.value or b"") for message in open_recording(file).messages()]
    assert values == [{"email": "masked-1@example.com", "card": 9000000000000001, "iban": "masked-1"}] * 2
    assert b"jane" not in file.read_bytes()

    produce(broker.bootstrap_servers, topic, [{"value": b"\0\0\0\0\1jane@acme.com"}])
    before = file.read_bytes()
    assert "offset 2 is binary" in run("record", topic, file, "--mask", "email", code=1)
    assert file.read_bytes() == before


def test_timestamps_are_moved_to_the_present_and_gaps_are_kept_at_a_speed(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    source, target = make_topic(1), make_topic(1)
    produce(broker.bootstrap_servers, source, [{"value": b"v", "timestamp": AT + 40_000 * n} for n in range(4)])
    run("record", source, tmp_path / "sample.parquet")
    recording = open_recording(tmp_path / "sample.parquet")
    client = Properties({"bootstrap.servers": broker.bootstrap_servers})
    waited: list[float] = []
    visible: list[int] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        visible.append(len(committed(broker, target)))

    # The clock stands still, so that each wait is that since the first message
    clock = Clock(now=lambda: 0.0, sleep=sleep)
    replay = RecordingReplay(target, unique_name("replay"), speed=2, shift_time=True)
    began = int(time.time() * 1000)
    replay_recording(client, recording, replay, clock=clock)

    assert (waited, visible) == ([20, 40, 60], [1, 2, 3])
    times = [message.timestamp()[1] for message in committed(broker, target)]
    assert [later - earlier for earlier, later in pairwise(times)] == [40_000] * 3
    assert began <= times[-1] - 60_000 <= int(time.time() * 1000)


def test_old_messages_and_groups_of_others_are_told(
    broker: Any, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    source, target = make_topic(1), make_topic(1, {"retention.ms": "3600000"})
    produce(broker.bootstrap_servers, source, [{"value": b"v", "timestamp": AT - 30 * 86_400_000}])
    run("record", source, tmp_path / "sample.parquet")
    printed = run("replay", tmp_path / "sample.parquet", "--topic", target)
    assert "deletes messages after 1 hours, and some of these are older: --shift-time" in printed
    assert "deletes messages" not in run(
        "replay", tmp_path / "sample.parquet", "--topic", target, "--shift-time", "--again"
    )

    from confluent_kafka import TopicPartition

    group = unique_name("group")
    commit_offsets(broker.bootstrap_servers, group, [TopicPartition(target, 0, 1)])
    refused = run("replay", tmp_path / "sample.parquet", "--topic", target, "--group", group, code=1)
    assert "has offsets of something else than a replay of this recording: give another one by --group" in refused


ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "to", "type": "Address"}],
}


@pytest.mark.nightly
def test_schemas_are_registered_elsewhere_and_messages_get_their_ids(
    broker: Any, registry: SchemaRegistry, make_topic: Any, run: Callable[..., str], tmp_path: Path
) -> None:
    source, target = make_topic(1), make_topic(1)
    registry.register("Address", ADDRESS)
    references = [{"name": "Address", "subject": "Address", "version": 1}]
    schema_id = registry.register(f"{source}-value", ORDER, references=references)
    body = encoded(
        {**ORDER, "fields": [ORDER["fields"][0], {"name": "to", "type": ADDRESS}]}, {"id": 1, "to": {"city": "x"}}
    )
    frame = b"\0" + schema_id.to_bytes(4, "big")
    in_header = [("__value_schema_id", frame), ("other", frame)]
    # Keys that are numbers begin like a message of a registry
    produce(
        broker.bootstrap_servers,
        source,
        [
            {"key": (7).to_bytes(8, "big"), "value": frame + body},
            {"key": None, "value": None},
            {"value": body, "headers": in_header},
        ],
    )

    assert "--registry URL records them, too" in run("record", source, tmp_path / "sample.jsonl")
    assert "; 1 schema\n" in run("record", source, tmp_path / "sample.jsonl", "--registry", registry.url)
    with SchemaRegistry() as other:
        # Ids of the other one differ
        for number in range(schema_id + 3):
            other.register(f"other-{number}", {"type": "fixed", "name": f"F{number}", "size": 1 + number})
        run("replay", tmp_path / "sample.jsonl", "--topic", target, "--registry", other.url)
        (subject,) = (name for name in other.ask("GET", "subjects") if name.startswith(target))
        version = other.ask("GET", f"subjects/{subject}/versions/latest")
        new_id = version["id"]
        registered = json.loads(other.ask("GET", f"schemas/ids/{new_id}")["schema"])
    assert (subject, version["references"]) == (f"{target}-value", references)
    assert registered == ORDER
    assert new_id != schema_id
    new_frame = b"\0" + new_id.to_bytes(4, "big")
    written = [(each.key(), each.value(), each.headers()) for each in committed(broker, target)]
    assert written == [
        ((7).to_bytes(8, "big"), new_frame + body, None),
        (None, None, None),
        (None, body, [("__value_schema_id", new_frame), ("other", frame)]),
    ]
