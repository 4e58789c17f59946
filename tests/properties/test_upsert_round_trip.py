"""Changes through upsert tables and back: write, read, filter, and write again equal the same on a dictionary."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.sink.writer.record_builder import record_builder_for
from millrace.sink.writer.upsert_record_builder import UpsertRecordBuilder
from support.records import keys_of, sink_config, values_of
from support.tables import SCHEMA, Row, Stream, Topic, latest_rows

TABLE = {"connector": "upsert-kafka", "topic": "t", "key_format": "json", "key_fields": "id", "value_format": "json"}
BUFFER = {"sink_buffer-flush_max-rows": "2", "sink_buffer-flush_interval": "1 h"}
ROWS = st.tuples(st.integers(0, 4), st.one_of(st.none(), st.sampled_from("abcd")))
MICRO_BATCHES = st.lists(st.lists(ROWS, min_size=1, max_size=8), min_size=1, max_size=6)


def write(topic: Topic, batches: Iterable[pa.RecordBatch], buffer: dict[str, str]) -> None:
    """Write the rows of one task."""
    config = sink_config(**TABLE, **buffer)
    builder = UpsertRecordBuilder(record_builder_for(config, SCHEMA), config.options, SCHEMA)
    records = [each for batch in batches for each in builder.build(batch)]
    for each in [*records, *builder.finish()]:
        topic.append(*zip(keys_of(each), values_of(each), strict=True))


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def table_of(topic: Topic) -> dict[int, str]:
    rows = latest_rows(topic)
    table = {row["id"]: row["name"] for row in rows}
    assert len(rows) == len(table)
    return table


@settings(max_examples=60)
@given(MICRO_BATCHES, st.booleans(), st.booleans(), st.booleans())
def test_a_filtered_copy_of_a_table_is_the_filtered_table(
    micro_batches: list[list[tuple[int, str | None]]], is_compacted: bool, is_buffered: bool, is_cut: bool
) -> None:
    source, target, table = Topic(), Topic(), dict[int, str]()
    buffer = BUFFER if is_buffered else {}
    source.batch_size = 2 if is_cut else 100
    with tempfile.TemporaryDirectory() as folder:
        stream = Stream(source, Path(folder))
        for changes in micro_batches:
            for key, name in changes:
                table.pop(key, None) if name is None else table.update({key: name})
            rows = [{"row_kind": "-D" if name is None else "+U", "id": key, "name": name} for key, name in changes]
            write(source, [batch_of(rows)], buffer)

            read = batch_of(stream.run())
            filtered = read.filter(pc.not_equal(read.column("name"), "a"))
            write(target, [filtered[at : at + 3] for at in range(0, len(filtered), 3)], buffer)

            if is_compacted:
                source.compact()
            assert table_of(source) == table
            assert table_of(target) == {key: name for key, name in table.items() if name != "a"}
