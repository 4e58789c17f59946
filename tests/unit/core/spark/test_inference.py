"""Columns of several topics, as far as a format knows them for each."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import SerializationContext
from millrace.errors import SchemaError
from millrace.spark.inference import merged_columns
from millrace_formats.raw import RawFormat


class ColumnsOfTopics(RawFormat):
    """A format that knows the columns of some topics."""

    known: dict[str, pa.Schema]

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        return self.known.get(context.topic)


def columns(**known: pa.Schema | None) -> pa.Schema | None:
    """Merge the columns of topics, each of which the format knows or not."""
    format_ = ColumnsOfTopics()
    format_.known = {topic: schema for topic, schema in known.items() if schema is not None}
    return merged_columns(known, format_)


def test_columns_of_all_topics_are_put_together() -> None:
    one, other = pa.schema([("id", pa.int64()), ("a", pa.string())]), pa.schema([("b", pa.int32()), ("id", pa.int64())])
    assert columns(x=one) == one
    assert columns(y=other, x=one).names == ["id", "a", "b"]
    assert columns(x=one, y=None) is None
    assert columns() is None


def test_a_column_of_two_types_is_named_with_its_topics() -> None:
    with pytest.raises(
        SchemaError, match=r"column id is string in topic 'y', but int64 in topic 'x': give the columns"
    ):
        columns(y=pa.schema([("id", pa.string())]), x=pa.schema([("id", pa.int64())]))
