"""Changes with old rows by Spark's own state, over streams of files."""

from __future__ import annotations

import datetime
import json
import os
import random
from decimal import Decimal

import pytest
from pyspark.errors import StreamingQueryException

import millrace
from millrace.errors import OptionsError

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = (
    "row_kind STRING, id BIGINT, `a b` INT, price DECIMAL(20,2), at TIMESTAMP, on_day DATE, tags ARRAY<STRING>, "
    "place STRUCT<x: INT, y: STRING>, weights MAP<STRING, DOUBLE>"
)
MICRO_BATCHES, UPSERTS, KEYS = 3, 120, 15


@pytest.fixture
def stream(spark, tmp_path):
    (tmp_path / "upserts").mkdir()
    before = spark.conf.get(PROVIDER, None)
    spark.conf.set(PROVIDER, ROCKS_DB)
    yield spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(tmp_path / "upserts"))
    spark.conf.unset(PROVIDER) if before is None else spark.conf.set(PROVIDER, before)


def write_upserts(folder, number, rows):
    file = folder / f"{number}.json"
    file.write_text("\n".join(map(json.dumps, rows)))
    # Spark reads the oldest first
    os.utime(file, (1e9 + number, 1e9 + number))


def upsert(chance, number):
    id_ = 2**60 + chance.randrange(KEYS)
    if chance.random() < 0.3:
        return {"row_kind": "-D", "id": id_}
    row = {"row_kind": chance.choice(["+I", "+U"]), "id": id_, "price": f"{number % 5}.25", "on_day": "2026-03-29"}
    row |= {"at": f"2026-03-29T01:{number % 4:02}:00.000001Z", "tags": ["x", None], "place": {"x": number % 2}}
    return row | ({"a b": number % 3} if number % 2 else {}) | {"weights": {"w": number / 8}}


def run(changes, tmp_path):
    """Return the changes of all micro-batches so far."""
    found = tmp_path / "found"
    found.mkdir(exist_ok=True)

    def save(rows, number):
        (found / f"{number}").write_text(repr([tuple(row) for row in rows.collect()]))

    writer = changes.writeStream.foreachBatch(save).option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    names = {"datetime": datetime, "Decimal": Decimal, "Row": lambda **fields: tuple(fields.values())}
    files = sorted(found.iterdir(), key=lambda file: int(file.name))
    return [change for file in files for change in eval(file.read_text(), names)]


def test_changes_have_the_old_rows_also_after_a_restart(spark, stream, tmp_path):
    chance, table, kinds = random.Random(5), {}, set()
    changes = millrace.normalize_upserts(stream, "id")
    for number in range(MICRO_BATCHES):
        upserts = [upsert(chance, UPSERTS * number + each) for each in range(UPSERTS)]
        write_upserts(tmp_path / "upserts", number, upserts)
        found = run(changes, tmp_path)

    for kind, id_, *columns in found:
        kinds.add(kind)
        if kind in ("-U", "-D"):
            assert table.pop(id_) == columns
        else:
            assert id_ not in table
            table[id_] = columns
    assert kinds == {"+I", "-U", "+U", "-D"}
    files = [str(tmp_path / "upserts" / f"{number}.json") for number in range(MICRO_BATCHES)]
    latest = {row.id: row for file in files for row in spark.read.schema(SCHEMA).json(file).collect()}
    assert len(latest) == KEYS
    expected = {row.id: list(row[2:]) for row in latest.values() if row.row_kind != "-D"}
    assert table == expected


@pytest.mark.nightly
def test_an_old_row_is_refused(stream, tmp_path):
    write_upserts(tmp_path / "upserts", 0, [{"row_kind": "-U", "id": 1}])
    with pytest.raises(StreamingQueryException, match=r"got the old row of an update \(-U\)"):
        run(millrace.normalize_upserts(stream, ["id"]), tmp_path)


def test_what_is_missing_is_told_at_once(spark, stream):
    with pytest.raises(OptionsError, match=r"(?s)has no column 'key'.*has no column 'kind'"):
        millrace.normalize_upserts(stream, "key", row_kind_column="kind")
    spark.conf.set(PROVIDER, "another")
    with pytest.raises(OptionsError, match="transformWithState needs RocksDB"):
        millrace.normalize_upserts(stream, "id")
