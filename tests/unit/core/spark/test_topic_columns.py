"""Columns of several topics, as far as a format knows them for each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import SerializationContext, TopicPartition
from millrace.errors import SchemaError
from millrace.spark import topic_columns
from millrace_formats.raw import RawFormat


class ColumnsOfTopics(RawFormat):
    """A format that knows the columns of some topics."""

    known: dict[str, pa.Schema]

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        return self.known.get(context.topic)


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> Any:
    def of(**known: pa.Schema | None) -> pa.Schema | None:
        partitions = [TopicPartition(topic, number) for topic in known for number in (0, 1)]
        subscriber = SimpleNamespace(partitions=lambda *_: SimpleNamespace(partitions=partitions))
        monkeypatch.setattr(topic_columns, "subscriber_for", lambda _: subscriber)
        monkeypatch.setattr(topic_columns, "KafkaAdmin", lambda _: None)
        format_ = ColumnsOfTopics()
        format_.known = {topic: schema for topic, schema in known.items() if schema is not None}
        config = configure_source({"properties.bootstrap.servers": "h:1", "topic": "a"})
        return topic_columns.columns_of_topics(config, format_)

    return of


def test_columns_of_all_topics_are_put_together(columns: Any) -> None:
    one, other = pa.schema([("id", pa.int64()), ("a", pa.string())]), pa.schema([("b", pa.int32()), ("id", pa.int64())])
    assert columns(x=one) == one
    assert columns(y=other, x=one).names == ["id", "a", "b"]
    assert columns(x=one, y=None) is None
    assert columns() is None


def test_a_column_of_two_types_is_named_with_its_topics(columns: Any) -> None:
    with pytest.raises(
        SchemaError, match=r"column id is string in topic 'y', but int64 in topic 'x': give the columns"
    ):
        columns(y=pa.schema([("id", pa.string())]), x=pa.schema([("id", pa.int64())]))
