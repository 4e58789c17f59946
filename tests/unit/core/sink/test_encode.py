from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.configuration import SinkConfig
from millrace.configuration.build import configure
from millrace.errors import OptionsError, SchemaError
from millrace.sink.encode import encode_for

VALUE = pa.schema([("value", pa.binary())])
ROWS = pa.record_batch({"value": pa.array([b"a", None])})


def sink(**options: str) -> SinkConfig:
    return configure({"properties.bootstrap.servers": "h:1", **options}).sink


def test_rows_of_kafka_columns_are_written_as_they_are() -> None:
    (found,) = encode_for(sink(topic="orders"), VALUE)(ROWS)
    assert (found.topic, list(found.values.to_list())) == ("orders", [b"a", None])


def test_rows_with_a_format_are_encoded_by_it() -> None:
    batch = pa.record_batch({"id": pa.array([1], pa.int64())})
    (found,) = encode_for(sink(topic="orders", format="json"), batch.schema)(batch)
    assert (found.topic, list(found.values.to_list()), found.keys) == ("orders", [b'{"id":1}'], None)


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
def test_a_sink_writes_to_one_topic(options: dict[str, str]) -> None:
    with pytest.raises(OptionsError) as error:
        encode_for(sink(topic="a;b", **options), VALUE)
    assert str(error.value) == "wrong sink options: option 'topic': a sink writes to one topic; got 'a;b'"


def test_a_format_needs_the_option_topic() -> None:
    with pytest.raises(OptionsError) as error:
        encode_for(sink(format="json"), pa.schema([("topic", pa.string())]))
    assert str(error.value) == "wrong sink options: option 'topic' is required, such as 'orders'"


def test_columns_that_cannot_be_written_are_refused() -> None:
    with pytest.raises(SchemaError, match="column 'id' cannot be written"):
        encode_for(sink(topic="orders"), pa.schema([("id", pa.int64())]))


def test_an_encoder_is_made_once_for_a_configuration_and_schema() -> None:
    assert encode_for(sink(topic="a"), VALUE) is encode_for(sink(topic="a"), pa.schema([("value", pa.binary())]))
    assert encode_for(sink(topic="a"), VALUE) is not encode_for(sink(topic="b"), VALUE)
