"""Change logs that are normalized by a primary key, read without a broker."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.errors import MessageError, OptionsError, SchemaError, StateError
from millrace.source.enumerator.state_preparation import check_state_location
from millrace.source.reader.decoding_plan import check_table_columns
from support.cases import CASES
from support.tables import SCHEMA, ChangeLogStream, Stream, Topic, change, latest_rows, short


def one(name: str | None, key: int = 1) -> dict[str, Any]:
    return {"id": key, "name": name}


CHANGES = (
    change(None, one("a")),
    change(None, one("x", 2)),
    change(one("a"), one("b")),
    change(one("x", 2), None),
)
EXPECTED = ["+I 1 a", "+I 2 x", "-U 1 a", "+U 1 b", "-D 2 x"]


def test_a_whole_change_log_is_as_it_is(tmp_path: Path) -> None:
    assert short(ChangeLogStream(Topic(*CHANGES), tmp_path).run()) == EXPECTED


def test_repeated_events_are_dropped_across_micro_batches_and_restarts(tmp_path: Path) -> None:
    topic = Topic(*CHANGES)
    stream = ChangeLogStream(topic, tmp_path)
    stream.run()
    topic.append(*CHANGES[2:], *CHANGES[2:])
    stream.restart()
    shutil.rmtree(tmp_path / "a")
    assert stream.run() == []
    topic.append(change(one("b"), one("c")))
    assert short(stream.run()) == ["-U 1 b", "+U 1 c"]


def test_old_rows_are_those_that_were_kept(tmp_path: Path) -> None:
    topic = Topic(change(None, one("a")), change(one("never"), one("b")), change(one("never"), None))
    assert short(ChangeLogStream(topic, tmp_path).run()) == ["+I 1 a", "-U 1 a", "+U 1 b", "-D 1 b"]


def test_a_log_whose_head_was_compacted_away_begins_with_insertions(tmp_path: Path) -> None:
    topic = Topic(change(one("a"), one("b")), change(one("x", 2), None), change(one("b"), one("c")))
    assert short(ChangeLogStream(topic, tmp_path).run()) == ["+I 1 b", "-U 1 b", "+U 1 c"]


def test_an_update_of_the_key_deletes_the_row_of_the_old_one(tmp_path: Path) -> None:
    topic = Topic(change(None, one("a")), change(one("a"), one("a", 7)))
    assert short(ChangeLogStream(topic, tmp_path).run()) == ["+I 1 a", "-D 1 a", "+I 7 a"]


def test_tombstones_change_nothing(tmp_path: Path) -> None:
    topic = Topic(CHANGES[0], (CHANGES[0][0], None), (CHANGES[0][0], b""), CHANGES[2])
    assert short(ChangeLogStream(topic, tmp_path).run()) == ["+I 1 a", "-U 1 a", "+U 1 b"]


def test_a_repeated_attempt_has_the_rows_of_the_first(tmp_path: Path) -> None:
    topic = Topic(*CHANGES, *CHANGES)
    stream = ChangeLogStream(topic, tmp_path)
    first = [stream.run(2), stream.run()]
    for host in "ab":
        again = [each for batch in stream.attempt(2, 8, host) for each in batch.to_pylist()]
        assert again == first[1]
    assert topic.fetched == [(0, 2), (2, 8)]


def test_a_batch_has_the_latest_rows(tmp_path: Path) -> None:
    assert latest_rows(Topic(*CHANGES, *CHANGES[:1], *CHANGES), stream=ChangeLogStream) == [
        {"row_kind": "+I", "id": 1, "name": "b"}
    ]


def test_old_rows_have_their_own_metadata(tmp_path: Path) -> None:
    schema = pa.schema([("offset", pa.int64()), *SCHEMA, ("at", pa.timestamp("us", "UTC"))])
    options = {"metadata.columns": "offset, timestamp AS at"}
    found = ChangeLogStream(Topic(*CHANGES), tmp_path, schema, **options).run()
    assert [(each["row_kind"], each["offset"], each["at"].microsecond) for each in found] == [
        ("+I", 0, 0),
        ("+I", 1, 1_000),
        ("-U", 0, 0),
        ("+U", 2, 2_000),
        ("-D", 1, 1_000),
    ]


def test_an_event_without_a_key_is_malformed(tmp_path: Path) -> None:
    topic = Topic(CHANGES[0], change(None, one("n") | {"id": None}), CHANGES[2])
    with pytest.raises(MessageError, match=r"offset 1: the primary key \(id\) has a NULL or is missing"):
        ChangeLogStream(topic, tmp_path / "strict").run()
    tolerant = ChangeLogStream(topic, tmp_path, **{"ingestion.ignore-errors": "true"})
    assert short(tolerant.run()) == ["+I 1 a", "-U 1 a", "+U 1 b"]
    assert tolerant.metrics.errors == 1


def test_other_columns_after_a_restart_are_refused(tmp_path: Path) -> None:
    topic = Topic(*CHANGES)
    stream = ChangeLogStream(topic, tmp_path)
    stream.run(2)
    stream.schema = pa.schema([*SCHEMA, ("more", pa.string())])
    with pytest.raises(StateError, match="rows that are kept of orders-0 cannot be read with the columns"):
        stream.run()


@pytest.mark.cases
@pytest.mark.parametrize(
    ("name", "file", "options"),
    [
        ("debezium-json", "mysql-schema-exclude.txt", {}),
        ("debezium-json", "mysql-schema-include.txt", {"debezium-json.schema-include": "true"}),
        ("canal-json", "data.txt", {}),
        ("maxwell-json", "data.txt", {}),
    ],
)
def test_real_change_logs_have_the_expected_changes_once(
    name: str, file: str, options: dict[str, str], tmp_path: Path
) -> None:
    types = {"id": pa.int32(), "name": pa.string(), "description": pa.string(), "weight": pa.float32()}
    schema = pa.schema([("row_kind", pa.string()), *types.items()])
    messages = [(None, line.encode()) for line in (CASES / name / file).read_text().splitlines()]
    # Each message twice, as a connector may write it that was stopped before it has noted how far it was
    topic = Topic(*(message for message in messages for _ in range(2)))
    stream = ChangeLogStream(topic, tmp_path, schema, **{"value.format": name}, **options)

    rows = [*stream.run(7), *stream.run()]

    shown = [
        f"{kind}({key},{name},{description if description is not None else 'null'},{round(weight, 3)})"
        for kind, key, name, description, weight in map(dict.values, rows)
    ]
    assert shown == (CASES / name / "expected-rows.txt").read_text().splitlines()


def problems(**options: str) -> str:
    with pytest.raises(OptionsError) as error:
        ChangeLogStream(Topic(), Path("unused"), **options)
    return str(error.value)


def test_what_a_change_log_with_a_key_needs() -> None:
    assert "'changelog.primary-key' requires a changelog format, such as 'debezium-json'; 'json' is none" in problems(
        **{"value.format": "json"}
    )
    assert "option 'changelog.mode' requires 'connector' = 'upsert-kafka'" in problems(**{"changelog.mode": "upsert"})
    assert "'row_kind' holds the row kinds" in problems(**{"changelog.primary-key": "id;row_kind"})
    assert "'scan.fail-on-data-loss' must be 'true' with" in problems(**{"scan.fail-on-data-loss": "false"})
    assert "'scan.parallelism' cannot be used with 'changelog.primary-key'" in problems(**{"scan.parallelism": "3"})
    with pytest.raises(OptionsError, match=r"'changelog.primary-key' cannot be used with 'connector' = 'upsert-kafka'"):
        Stream(Topic(), Path("unused"), **{"changelog.primary-key": "id"})


def test_the_columns_of_the_key_are_checked(tmp_path: Path) -> None:
    config = ChangeLogStream(Topic(), tmp_path, **{"changelog.primary-key": "number"}).config("a")
    with pytest.raises(SchemaError, match="there is no column 'number'; the columns are id, name"):
        check_table_columns(config, SCHEMA)
    schema = pa.schema([*SCHEMA, ("number", pa.map_(pa.string(), pa.string()))])
    with pytest.raises(SchemaError, match="column 'number' is part of the primary key and must not be or have a MAP"):
        check_table_columns(config, schema)


def test_a_place_for_the_state_is_required() -> None:
    config = configure_source({"properties.bootstrap.servers": "h:1", "topic": "orders", **ChangeLogStream.table})
    with pytest.raises(OptionsError, match=r"required for a stream with 'changelog.primary-key'"):
        check_state_location(config.options)
