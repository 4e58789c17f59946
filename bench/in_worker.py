"""Work of Spark's Python workers while formats are measured, timed by the processor's clock."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import totals_of
from bench.formats.case import ROW_KIND, ByHand
from bench.pool import TASKS
from millrace.contracts import Decoder, Encoder, Payloads
from millrace.gc_control import garbage_collection_paused
from millrace.plugins.manager import PluginRef

_MESSAGES = 5_000
_ROWS = 10_000

Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""A function for ``mapInArrow``."""


def decoding(plugin: PluginRef, schema: pa.Schema, file: str, spent: Any) -> Work:
    """Make a function that decodes the messages of a file by a format, and returns totals of the rows.

    Args:
        plugin: The format.
        schema: The columns of the rows.
        file: The messages.
        spent: An accumulator of seconds.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = _decoder(plugin, schema)
        decoder.decode(Payloads(_objects(_messages(file, 0)[0])))  # what is only done once, such as asking a registry
        messages = (Payloads(_objects(some)) for some in _each(_messages, file, batches))
        return map(totals_of, _timed(messages, lambda payloads: decoder.decode(payloads).rows, spent))

    return work


def reading_by_hand(by_hand: ByHand, file: str, spent: Any) -> Work:
    """Make a function that decodes the messages of a file by hand; arguments as for `decoding`."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(totals_of, _timed(map(_objects, _each(_messages, file, batches)), by_hand.rows, spent))

    return work


def reading_columns_by_hand(by_hand: ByHand) -> Work:
    """Make a function that decodes the messages of a column by hand."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield by_hand.rows(Payloads(batch.column(0)).to_list())

    return work


def encoding(plugin: PluginRef, schema: pa.Schema, file: str, spent: Any) -> Work:
    """Make a function that encodes the rows of a file by a format, and returns the sizes of messages as ``size``.

    Args:
        plugin: The format.
        schema: The columns of the rows.
        file: The rows.
        spent: An accumulator of seconds.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        encoder = _encoder(plugin, schema)
        return _sizes(_timed(_each(_rows, file, batches), lambda rows: _encoded(encoder, *rows), spent))

    return work


def writing_by_hand(by_hand: ByHand, file: str, spent: Any) -> Work:
    """Make a function that encodes the rows of a file by hand; arguments as for `encoding`."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _sizes(_timed(_each(_rows, file, batches), lambda rows: by_hand.messages(rows[0]), spent))

    return work


def _timed(inputs: Iterator[Any], do: Callable[[Any], Any], spent: Any) -> Iterator[Any]:
    with garbage_collection_paused():
        for one in inputs:
            started = time.process_time()
            made = do(one)
            spent.add(time.process_time() - started)
            yield made


def _sizes(encoded: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    for messages in encoded:
        yield pa.RecordBatch.from_pydict({"size": pa.array([sum(map(len, messages))], pa.int64())})


def _each(cached: Callable[[str, int], list[Any]], file: str, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    for batch in batches:
        for task in batch.column(0).to_pylist():
            yield from cached(file, task % TASKS)


@functools.lru_cache(maxsize=TASKS)
def _messages(file: str, part: int) -> list[pa.BinaryArray]:
    column = pq.read_table(file).column(0).combine_chunks()
    share = _share(len(column), part)
    return [column.slice(at, min(_MESSAGES, share.stop - at)) for at in range(share.start, share.stop, _MESSAGES)]


def _objects(messages: pa.BinaryArray) -> list[bytes]:
    """Return messages as a consumer returns them: as new Python objects."""
    objects: list[bytes] = messages.to_numpy(zero_copy_only=False).tolist()
    return objects


@functools.lru_cache(maxsize=TASKS)
def _rows(file: str, part: int) -> list[tuple[pa.RecordBatch, pa.StringArray | None]]:
    """Return batches of rows as Spark passes them to a sink, and their row kinds."""
    (rows,) = pq.read_table(file).combine_chunks().to_batches()
    share = _share(rows.num_rows, part)
    batches = [rows.slice(at, min(_ROWS, share.stop - at)) for at in range(share.start, share.stop, _ROWS)]
    if ROW_KIND not in rows.schema.names:
        return [(batch, None) for batch in batches]
    columns = _without_kinds(rows.schema).names
    return [(batch.select(columns), batch.column(ROW_KIND)) for batch in batches]


def _share(count: int, part: int) -> slice:
    return slice(count * part // TASKS, count * (part + 1) // TASKS)


@functools.lru_cache(maxsize=4)
def _decoder(plugin: PluginRef, schema: pa.Schema) -> Decoder:
    return plugin.create().decoder(_without_kinds(schema))


@functools.lru_cache(maxsize=4)
def _encoder(plugin: PluginRef, schema: pa.Schema) -> Encoder:
    return plugin.create().encoder(_without_kinds(schema))


def _without_kinds(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name != ROW_KIND])


def _encoded(encoder: Encoder, rows: pa.RecordBatch, kinds: pa.StringArray | None) -> Sequence[bytes | None]:
    return encoder.encode(rows, kinds).to_list()
