"""Tables with a primary key, read without a broker. What happens at random is in tests/properties."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from millrace.errors import MachineError, MessageError, SchemaError, StateError
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace.source.reader import keyed_state, state_versions
from millrace.source.reader.decoding_plan import check_table_columns
from millrace.source.reader.error_policy import ErrorPolicy
from millrace_formats.json.format import JsonFormat
from support.tables import PARTITION, SCHEMA, Stream, Topic, latest_rows, row, short

CHANGES = (row(1, "a"), row(2, "b"), row(1, "c"), row(2, None), row(3, None))


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    return Stream(Topic(*CHANGES), tmp_path)


def test_values_are_inserts_and_updates_and_nulls_are_deletes(stream: Stream) -> None:
    assert short(stream.run()) == ["+I 1 a", "+I 2 b", "-U 1 a", "+U 1 c", "-D 2 b"]


def test_state_goes_from_micro_batch_to_micro_batch(stream: Stream) -> None:
    found = [short(stream.run(end)) for end in range(1, 6)]
    assert found == [["+I 1 a"], ["+I 2 b"], ["-U 1 a", "+U 1 c"], ["-D 2 b"], []]


def test_the_same_value_once_more_changes_nothing(stream: Stream) -> None:
    stream.run()
    stream.topic.append(row(1, "c"), row(2, None), row(1, "d"))
    assert short(stream.run()) == ["-U 1 c", "+U 1 d"]


def test_keys_are_equal_by_their_columns(tmp_path: Path) -> None:
    topic = Topic((b'{"id": 1}', b'{"id":1,"name":"a"}'), (b'{ "id":1.0e0, "x":0 }', b'{"id":1,"name":"b"}'))
    assert short(Stream(topic, tmp_path).run()) == ["+I 1 a", "-U 1 a", "+U 1 b"]


def test_columns_of_the_key_alone_are_in_all_rows(tmp_path: Path) -> None:
    topic = Topic((b'{"id":1}', b'{"name":"a"}'), (b'{"id":1}', b'{"name":"b"}'), (b'{"id":1}', None))
    stream = Stream(topic, tmp_path, **{"value.fields-include": "EXCEPT_KEY"})
    assert short(stream.run(2)) == ["+I 1 a", "-U 1 a", "+U 1 b"]
    assert short(stream.run()) == ["-D 1 b"]


def test_old_rows_have_their_own_metadata(tmp_path: Path) -> None:
    schema = pa.schema([*SCHEMA, ("offset", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    stream = Stream(Topic(*CHANGES), tmp_path, schema, **{"metadata.columns": "offset, timestamp AS at"})
    stream.run(2)
    found = [(each["row_kind"], each["offset"], each["at"].microsecond) for each in stream.run()]
    assert found == [("-U", 0, 0), ("+U", 2, 2_000), ("-D", 1, 1_000)]


class HeadedJson(JsonFormat):
    """JSON whose beginning may be in a header, as the id of a schema may."""

    def schema_header(self, *, is_key: bool) -> str | None:
        return "key-begins" if is_key else "value-begins"


def headed_topic() -> Topic:
    topic = Topic((b"1}", b'"a"}'), (b"1}", b'"b"}'), (b'{"id":2}', b'{"id":2,"name":"c"}'), (b"1}", None))
    begins = [("key-begins", b'{"id":'), ("value-begins", b'{"id":1,"name":')]
    topic.headers = {0: begins, 1: begins, 3: begins}
    return topic


HEADED = {"value.format": f"{__name__}:HeadedJson", "key.format": f"{__name__}:HeadedJson"}


@pytest.mark.parametrize("metadata", ["", "offset"])
def test_headers_that_tell_schemas_are_kept_with_the_rows(tmp_path: Path, metadata: str) -> None:
    topic = headed_topic()
    schema = pa.schema([*SCHEMA, ("offset", pa.int64())]) if metadata else SCHEMA
    stream = Stream(topic, tmp_path, schema, **HEADED, **({"metadata.columns": metadata} if metadata else {}))
    assert short(stream.run(1)) == ["+I 1 a"]
    shutil.rmtree(stream.folder / "a")
    assert short(stream.run(3)) == ["-U 1 a", "+U 1 b", "+I 2 c"]
    # A repeated attempt reads the file of changes, without the headers of their messages
    again = [each for batch in stream.attempt(1, 3) for each in batch.to_pylist()]
    assert short(again) == ["-U 1 a", "+U 1 b", "+I 2 c"]
    assert short(stream.run()) == ["-D 1 b"]


def test_values_and_keys_with_schemas_in_headers_are_as_they_were(tmp_path: Path) -> None:
    schema = pa.schema([*SCHEMA, ("raw", pa.binary())])
    stream = Stream(headed_topic(), tmp_path, schema, **HEADED, **{"metadata.columns": "__raw_value__ AS raw"})
    assert [each["raw"] for each in stream.run(2)] == [b'"a"}', b'"a"}', b'"b"}']
    assert [each["raw"] for each in stream.run()] == [b'{"id":2,"name":"c"}', b'"b"}']


def test_the_latest_rows_are_read_by_their_headers() -> None:
    topic = headed_topic()
    assert short(latest_rows(topic, **HEADED)) == ["+I 2 c"]
    topic.messages.pop(3)
    assert short(latest_rows(topic, **HEADED)) == ["+I 1 b", "+I 2 c"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "malformed key .* offset 1: it has no key, which is the primary key of its row"),
        (b'{"id":null}', r"the primary key \(id\) has a NULL"),
        (b"{oops", "malformed key .* offset 1"),
    ],
)
def test_a_message_without_a_whole_key_is_malformed(tmp_path: Path, key: bytes | None, why: str) -> None:
    topic = Topic(row(1, "a"), (key, b'{"id":2,"name":"b"}'), row(1, "c"))
    with pytest.raises(MessageError, match=why):
        Stream(topic, tmp_path / "strict").run()
    tolerant = Stream(topic, tmp_path, **{"ingestion.ignore-errors": "true"})
    assert short(tolerant.run()) == ["+I 1 a", "-U 1 a", "+U 1 c"]
    assert tolerant.metrics.errors == 1


def test_a_malformed_value_does_not_become_the_row_of_its_key(tmp_path: Path) -> None:
    topic = Topic(row(1, "a"), (row(1, "")[0], b"{oops"), row(1, "c"), row(2, "x"), (row(2, "")[0], b"[1"))
    stream = Stream(topic, tmp_path, **{"ingestion.ignore-errors": "true"})
    assert short(stream.run()) == ["+I 1 a", "-U 1 a", "+U 1 c", "+I 2 x"]


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (
            b'{"id":1}',
            b'[{"name":"b"},{"name":"c"}]',
            "malformed message .* offset 1: it has several rows, and its key has one",
        ),
        (b'[{"id":1},{"id":2}]', b'{"name":"b"}', "malformed key .* offset 1: it has 2 rows, and a key has one"),
    ],
)
def test_several_rows_of_a_message_are_malformed_and_delete_nothing(
    tmp_path: Path, key: bytes, value: bytes, why: str
) -> None:
    # The blank message has no row, so that there are as many rows as messages
    topic = Topic(row(1, "a"), (key, value), (b'{"id":2}', b" "), (b'{"id":3}', b'[{"id":3,"name":"d"}]'))
    topic.batch_size = 4
    with pytest.raises(MessageError, match=why):
        Stream(topic, tmp_path / "strict").run()
    tolerant = Stream(topic, tmp_path, **{"ingestion.ignore-errors": "true"})
    assert short(tolerant.run()) == ["+I 1 a", "+I 3 d"]
    topic.append(row(1, "e"))
    assert short(tolerant.run()) == ["-U 1 a", "+U 1 e"]


def test_a_repeated_attempt_has_the_rows_of_the_first_although_the_topic_was_compacted(stream: Stream) -> None:
    first = stream.run()
    stream.topic.append(row(1, "z"))
    stream.topic.compact()
    again = [each for batch in stream.attempt(0, 5) for each in batch.to_pylist()]
    assert again == first
    assert stream.topic.fetched == [(0, 5)]
    assert short(stream.run()) == ["-U 1 c", "+U 1 z"]


def test_a_lost_store_is_restored_though_the_topic_was_compacted(stream: Stream) -> None:
    stream.run(2)
    stream.topic.compact()
    shutil.rmtree(stream.folder / "a")
    # Kafka has removed the deletion too
    assert short(stream.run()) == ["-U 1 a", "+U 1 c"]


def refuse(policy: ErrorPolicy) -> None:
    raise MessageError("too many")


def test_an_attempt_that_reads_too_many_malformed_messages_leaves_nothing_to_replay(stream: Stream) -> None:
    stream.before_end = refuse
    for _ in range(2):
        with pytest.raises(MessageError, match="too many"):
            stream.run()
    # The next attempt reads, and so counts, the messages again
    assert stream.topic.fetched == [(0, 5)] * 2
    assert not list((stream.folder / "state").rglob("*.changes"))


def test_runs_of_a_replayed_range_are_not_known(tmp_path: Path) -> None:
    options = {"ingestion.ignore-errors": "true", "dirty-data.max-consecutive": "9"}
    stream = Stream(Topic((b"{", b"{"), (b"{", b"{")), tmp_path, **options)
    stream.run()
    assert stream.error_policy.runs_of(stream.plan(0, 2)) == {PARTITION: (0, 2, MalformedRuns(2, 2, 2))}
    list(stream.attempt(0, 2))
    assert stream.error_policy.runs_of(stream.plan(0, 2)) == {}
    assert stream.error_policy.replayed_partitions == (PARTITION,)


def test_malformed_messages_of_an_earlier_micro_batch_do_not_count_in_this_one(tmp_path: Path) -> None:
    options = {"ingestion.ignore-errors": "true", "dirty-data.max-consecutive": "2"}
    bad = (b"{", b"{")
    stream = Stream(Topic(bad, bad, bad, row(1, "a")), tmp_path, **options)
    reports = []
    stream.before_end = reports.append
    # No task reads this one to its end
    stream.plan(0, 2)
    stream.offsets.append(2)
    assert short(stream.run()) == ["+I 1 a"]
    assert stream.error_policy.runs_of(stream.plan(2, 4)) == {PARTITION: (2, 4, MalformedRuns(1, 1, 0, True))}
    assert stream.metrics.errors == 1
    assert reports == [stream.error_policy]


def test_quiet_hosts_do_not_restore(stream: Stream) -> None:
    for end, host in enumerate("abababab", start=1):
        stream.topic.append(row(end, f"row {end}"))
        stream.run(end, host)
    # Each host has restored the empty table once
    assert [count.restores for count in stream.metrics.counts.values()] == [2]


def test_the_size_of_the_state_is_that_before_the_last_micro_batch(stream: Stream) -> None:
    stream.run(1)
    (count,) = stream.metrics.counts.values()
    assert count.state_keys == 0
    assert count.state_bytes is not None
    stream.run()
    (count,) = stream.metrics.counts.values()
    assert count.state_keys == 1
    assert count.state_bytes > 0


def test_an_older_checkpoint_forgets_what_came_after_it(tmp_path: Path) -> None:
    stream = Stream(Topic(row(1, "a"), row(1, "b"), row(1, "c")), tmp_path)
    stream.run(2)
    assert short(stream.run(3)) == ["-U 1 b", "+U 1 c"]
    stream.topic.compact()
    stream.offsets = [0]
    stream.restart()
    # What is left of the topic says nothing of the rows a and b
    assert [short(stream.run(end)) for end in (1, 2, 3)] == [[], [], ["+I 1 c"]]


def test_what_no_task_has_read_is_read_for_the_state(stream: Stream, caplog: pytest.LogCaptureFixture) -> None:
    stream.plan(0, 2)
    stream.offsets.append(2)
    assert short(stream.run()) == ["-U 1 a", "+U 1 c", "-D 2 b"]
    assert "no task has read orders-0 [0, 2) to its end" in caplog.text


def test_lost_durable_state_is_told(stream: Stream) -> None:
    stream.run(2)
    shutil.rmtree(stream.folder / "state")
    shutil.rmtree(stream.folder / "a")
    with pytest.raises(StateError, match=r"the state of orders-0 at offset 2 is not in option 'state.checkpoints.dir'"):
        stream.run()


def test_snapshots_are_written_and_old_files_deleted(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_versions, "MAX_CHANGE_FILES", 5)
    stream.options["state.checkpoints.num-retained"] = "3"
    for number in range(40):
        stream.topic.append(row(number % 7, f"row {number}"))
        stream.run()
    files = sorted(path.name for path in (stream.folder / "state/stream/orders/0").iterdir())
    assert len([name for name in files if name.endswith(".snapshot")]) == 2
    assert 3 <= len([name for name in files if name.endswith(".changes")]) <= 13
    shutil.rmtree(stream.folder / "a")
    stream.topic.append(row(0, None))
    assert short(stream.run()) == ["-D 0 row 35"]


def test_states_are_kept_as_far_back_as_a_sparse_offset_log_goes(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_versions, "MAX_CHANGE_FILES", 5)
    stream.options["state.checkpoints.num-retained"] = "3"
    stream.run(2)
    stream.log_is_sparse = True
    stream.restart()
    for number in range(40):
        stream.topic.append(row(1, f"row {number}"))
        stream.run()
    shutil.rmtree(stream.folder / "a")
    stream.offsets = [0, 2]
    stream.restart()
    # One micro-batch has what 40 had
    changed = short(stream.run())
    assert changed[:3] == ["-U 1 a", "+U 1 c", "-D 2 b"]
    assert changed[-1] == "+U 1 row 39"


def test_changes_beyond_memory_go_to_the_disk(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_state.Overlay.__init__, "__defaults__", (1,))
    stream.topic.batch_size = 1
    assert short(stream.run()) == ["+I 1 a", "+I 2 b", "-U 1 a", "+U 1 c", "-D 2 b"]
    assert latest_rows(stream.topic) == [{"row_kind": "+I", "id": 1, "name": "c"}]
    assert not list((stream.folder / "a").glob("task-*"))


def test_upserts_need_no_state(tmp_path: Path) -> None:
    stream = Stream(Topic(*CHANGES), tmp_path, **{"changelog.mode": "upsert"})
    assert short(stream.run()) == ["+U 1 a", "+U 2 b", "+U 1 c", "-D 2 None", "-D 3 None"]
    assert not list(tmp_path.iterdir())


def test_upserts_and_deletes_are_in_the_order_of_their_messages(tmp_path: Path) -> None:
    topic = Topic(row(1, "a"), row(1, None), row(1, "b"), (row(1, "")[0], b""), row(1, None))
    topic.batch_size = 5
    stream = Stream(topic, tmp_path, **{"changelog.mode": "upsert"})
    assert short(stream.run()) == ["+U 1 a", "-D 1 None", "+U 1 b", "-D 1 None"]


def test_a_batch_of_upserts_has_the_last_change_of_each_key_with_its_metadata() -> None:
    schema = pa.schema([*SCHEMA, ("offset", pa.int64())])
    options = {"changelog.mode": "upsert", "metadata.columns": "offset"}
    rows = latest_rows(Topic(*CHANGES), schema, **options)
    assert [tuple(each.values()) for each in rows] == [
        ("+U", 1, "c", 2),
        ("-D", 2, None, 3),
        ("-D", 3, None, 4),
    ]


def test_a_batch_has_the_latest_rows(stream: Stream) -> None:
    stream.topic.append(row(5, "x"))
    assert sorted(short(latest_rows(stream.topic))) == ["+I 1 c", "+I 5 x"]


def test_other_metadata_after_a_restart_is_refused(stream: Stream) -> None:
    stream.run(2)
    stream.schema = pa.schema([*SCHEMA, ("offset", pa.int64())])
    stream.options["metadata.columns"] = "offset"
    with pytest.raises(StateError, match="written by a query with other metadata columns"):
        stream.run()


def test_a_schema_needs_the_row_kinds(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="connector 'upsert-kafka' reads changes of rows"):
        Stream(Topic(*CHANGES), tmp_path, pa.schema(list(SCHEMA)[1:])).run()


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"option 'state.checkpoints.dir': 'nowhere://a' cannot be used"):
        Stream(Topic(*CHANGES), tmp_path, **{"state.checkpoints.dir": "nowhere://a"}).run()
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="writing the state of a table"):
        Stream(Topic(*CHANGES), tmp_path, **{"state.checkpoints.dir": str(tmp_path / "file")}).run()
    with pytest.raises(MachineError, match=r"option 'state.backend.local-dir'"):
        Stream(Topic(*CHANGES), tmp_path, **{"state.backend.local-dir": str(tmp_path / "file")}).run()


def test_deleted_rows_without_old_ones_cannot_have_columns_that_are_not_null(tmp_path: Path) -> None:
    config = Stream(Topic(), tmp_path, **{"changelog.mode": "upsert"}).config("a")
    schema = pa.schema([SCHEMA.field(0), SCHEMA.field(1).with_nullable(False), SCHEMA.field(2).with_nullable(False)])
    with pytest.raises(SchemaError, match=r"column 'name' is NOT NULL, and with 'changelog.mode' = 'upsert'"):
        check_table_columns(config, schema)
