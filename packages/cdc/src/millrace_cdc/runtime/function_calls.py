"""Calls of user-defined functions, on the executors: rows get a value for each.

The results stand behind the values that a row's program reads, in the order of their numbers.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any

import pyarrow as pa

from millrace_catalog.types import ArrayType, DataType, MapType, RowType
from millrace_catalog.types.arrow import to_arrow
from millrace_catalog.user_functions.calls import Failure, call_with_arrays, call_with_rows
from millrace_catalog.user_functions.sources import FunctionSource
from millrace_cdc.errors import FunctionFailedError
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.arrow_rows import JsonColumns
from millrace_cdc.rows.compiled_readers import raw_reader
from millrace_cdc.runtime.transform_programs import argument_name

ARGUMENTS = "arguments"
"""The column with the arguments of the rows before and after, as JSON objects of the calls' objects."""

_IMAGES = pa.list_(pa.list_(pa.string()))


@dataclass(frozen=True)
class RunnableCall:
    """A call of a function; plain data that travels to executors.

    Attributes:
        source: The code of the function.
        options: The values of its options.
        is_arrow: Whether it takes arrays of Arrow.
        arguments: The types of its arguments.
        result: The type of its results.
    """

    source: FunctionSource
    options: tuple[tuple[str, Any], ...]
    is_arrow: bool
    arguments: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True)
class TableCalls:
    """The calls of a table's rows whose arguments are known at the same time.

    Attributes:
        calls: The calls.
        places: For each its rule and its text, for errors.
    """

    calls: tuple[RunnableCall, ...]
    places: tuple[str, ...]


class FunctionCalls:
    """Call functions.

    Args:
        tables: The calls by the ids of tables; none for the others.
    """

    def __init__(self, tables: Mapping[str, TableCalls]) -> None:
        self._tables = tables

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches with results in place of arguments.

        Raises:
            FunctionFailedError: A function fails, or returns a value of another type than it says.
        """
        return map(self._run_batch, batches)

    def _run_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        images, arguments = (batch.column(name).to_pylist() for name in ("images", ARGUMENTS))
        rows: dict[str, list[int]] = defaultdict(list)
        for index, table in enumerate(batch.column("table").to_pylist()):
            if table in self._tables:
                rows[table].append(index)
        for table, indexes in rows.items():
            cells = [(index, side) for index in indexes for side in (0, 1) if images[index][side] is not None]
            results_by_call = self._results(
                table, [arguments[index][side] for index, side in cells], partial(_place, batch, cells)
            )
            for (index, side), results in zip(cells, zip(*results_by_call, strict=True), strict=True):
                images[index][side].extend(results)
        changes = batch.drop_columns([ARGUMENTS])
        return changes.set_column(changes.schema.get_field_index("images"), "images", pa.array(images, _IMAGES))

    def _results(self, table: str, arguments: Sequence[str], place: Any) -> list[list[str | None]]:
        """Return the results of each call, as texts; None for rows that need none."""
        calls = self._tables[table]
        read = raw_reader([argument_name(number) for number in range(len(calls.calls))])
        columns = list(zip(*map(read, arguments), strict=True))
        results = []
        for call, raws, shown in zip(calls.calls, columns, calls.places, strict=True):
            rows = [bytes(raw) for raw in raws]
            called = [index for index, row in enumerate(rows) if row != b"null"]
            texts: list[str | None] = [None] * len(rows)
            if called:
                failed = partial(_failure, table, shown, place, called)
                for index, text in zip(called, _call(call, [rows[index] for index in called], failed), strict=True):
                    texts[index] = text
            results.append(texts)
        return results


def _call(call: RunnableCall, rows: Sequence[bytes], failed: Failure) -> list[str | None]:
    function = partial(call.source.load(), **dict(call.options))
    schema = pa.schema([(argument_name(number), argument_type(type_)) for number, type_ in enumerate(call.arguments)])
    columns = JsonColumns(schema).read(rows).columns if call.arguments else []
    arrays = [column.combine_chunks() for column in columns]
    call_function = call_with_arrays if call.is_arrow else call_with_rows
    return _texts(call_function(function, call.result, arrays, len(rows), failed), call.result)


def argument_type(type_: DataType) -> pa.DataType:
    """Return the type of Arrow of an argument."""
    return pa.string() if str(type_) == "NULL" else to_arrow(type_)


def _place(batch: pa.RecordBatch, cells: Sequence[tuple[int, int]], index: int) -> str:
    """Return the place of the message of a cell."""
    row = cells[index][0]
    topic, partition, offset = (batch.column(name)[row].as_py() for name in ("topic", "partition", "offset"))
    return f" for the message of topic {topic!r}, partition {partition}, offset {offset}"


def _failure(
    table: str, shown: str, place: Callable[[int], str], called: Sequence[int], index: int | None, problem: str
) -> FunctionFailedError:
    return FunctionFailedError(table, f"{shown} fails{'' if index is None else place(called[index])}: {problem}")


def _texts(results: pa.Array, type_: DataType) -> list[str | None]:
    """Return results as Spark reads the values of a row."""
    if isinstance(type_, ArrayType | MapType | RowType):
        values = results.to_pylist(maps_as_pydicts="strict")
        return [None if value is None else exact_json.encode({"v": _json(value)}).decode() for value in values]
    if pa.types.is_binary(results.type):
        return [None if value is None else base64.b64encode(value).decode() for value in results.to_pylist()]
    if pa.types.is_time(results.type):
        # Spark's times have six digits
        results = results.cast(pa.time64("us"), safe=False)
    return results.cast(pa.string()).to_pylist()


def _json(value: Any) -> Any:
    """Return a value as rows have it."""
    if isinstance(value, Mapping):
        return {str(key): _json(map_value) for key, map_value in value.items()}
    if isinstance(value, list):
        return list(map(_json, value))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return f"{moment}{'' if value.tzinfo is None else 'Z'}"
    return value.isoformat() if isinstance(value, date | time) else value
