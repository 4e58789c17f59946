"""Mistakes of writes and of streams."""

from __future__ import annotations

from support.mistakes import Mistake, Playground


def _write(name: str, *says: str, row: str = "'a' AS value", mode: str = "append", **options: str) -> Mistake:
    def make(place: Playground) -> None:
        place.write(place.values(row), mode, **{"topic": "written", **options})

    return Mistake(name, make, says)


WRITES = (
    _write("overwrite", ".mode('append')", mode="overwrite"),
    _write("mode that is none", ".mode('append')", mode="error"),
    _write("topic misspelled in a write", "no topic 'writen'", "Did you mean 'written'?", topic="writen"),
    _write("number for bytes", "column 'id' cannot be written", "'json'", row="id"),
    _write("partition that is out of range", "partition 5", row="'a' AS value, 5 AS partition"),
    _write("interval in a write", "took", "INTERVAL", row="INTERVAL '1' DAY AS took", format="json"),
    _write("message that is too large", "max.request.size", row="repeat('a', 2000000) AS value"),
    _write("topic that is NULL", "topic", row="'a' AS value, CAST(NULL AS STRING) AS topic", topic=""),
    _write("headers of text", "headers", row="'a' AS value, 'h' AS headers"),
    _write("no topic in a write", "topic", topic=""),
    _write("key's columns that are not written", "nr", format="json", key_format="raw", key_fields="nr"),
    _write(
        "partitioner that raises",
        "partitioner",
        "support.mistakes.plugins",
        "it is broken",
        sink_partitioner="support.mistakes.plugins:BrokenPartitioner",
    ),
    _write(
        "format that raises in a write",
        "format",
        "support.mistakes.plugins",
        "encode",
        "it is broken",
        format="support.mistakes.plugins:BrokenFormat",
    ),
)


def _stream(name: str, *says: str, **options: str) -> Mistake:
    def make(place: Playground) -> None:
        place.run(place.stream("id INT", **{"topic": "orders", "format": "json", **options}))

    return Mistake(name, make, says)


def _update_mode(place: Playground) -> None:
    counts = place.stream("id INT", topic="orders", format="json").groupBy("id").count()
    values = counts.selectExpr("CAST(id AS STRING) AS value")
    options = {"properties.bootstrap.servers": place.servers, "topic": "written"}
    place.run(values, "update", "millrace", **options)


def _unwritable_checkpoint(place: Playground) -> None:
    place.run(place.stream("id INT", topic="orders", format="json"), checkpointLocation="/proc/nowhere")


def _checkpoint_of_another_topic(place: Playground) -> None:
    place.run(place.stream("id INT", topic="orders", format="json"))
    place.run(place.stream("id INT", topic="times", format="json"))


def _append_of_counts(place: Playground) -> None:
    place.run(place.stream("id INT", topic="orders", format="json").groupBy("id").count())


def _batch_of_a_stream(place: Playground) -> None:
    place.stream("id INT", topic="orders", format="json").count()


STREAMS = (
    _stream("message that is cut, in a stream", "topic 'bad', partition 0, offset 1", topic="bad"),
    _stream("topic misspelled in a stream", "no topic 'order'", "Did you mean 'orders'?", topic="order"),
    _stream(
        "format that raises in a stream",
        "format",
        "support.mistakes.plugins",
        "it is broken",
        format="support.mistakes.plugins:BrokenFormat",
    ),
    Mistake("update mode", _update_mode, ("millrace.upsert_batches",)),
    Mistake("checkpoint that cannot be written", _unwritable_checkpoint, ("/proc/nowhere cannot be written",)),
    Mistake(
        "checkpoint of another topic",
        _checkpoint_of_another_topic,
        ("orders-0", "'times'", "is another query's"),
    ),
    Mistake("append of counts", _append_of_counts, (".outputMode('complete')", ".withWatermark(")),
    Mistake("count of a stream", _batch_of_a_stream, ("writeStream.start()",)),
)

ALL = (*WRITES, *STREAMS)
