"""Values that programs of transforms read, and rows of what they compute, on the executors.

A row's columns stay JSON: Spark gets only the values that an expression reads, as texts, and what a transform merely
copies is never converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import pyarrow as pa

from millrace_cdc.rows.change_records import changes_of, row_images
from millrace_cdc.rows.compiled_readers import raw_reader
from millrace_cdc.runtime.change_parser import TableSchema, columns_of
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.projection import table_id, table_metadata
from millrace_cdc.runtime.transform_programs import RuleColumns, value_name
from millrace_cdc.transforms.transform import METADATA_COLUMNS

IMAGE_COLUMNS = "program INT, images ARRAY<ARRAY<STRING>>"
"""The columns that `ImageReader` adds: the number of a program, and the values of the rows before and after."""

RULE = "rule"
"""The field of a result with the number of the rule that a row has met."""

_IMAGES = pa.list_(pa.list_(pa.string()))
_ROW_KINDS = {"u": ("-U", "+U"), "d": ("-D", "+I"), "c": ("-D", "+I")}
_decode_text = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class TableImages:
    """A table whose rows are transformed; plain data that travels to executors.

    Attributes:
        columns: Its columns.
        program: The number of its program.
        reads: The columns and metadata columns that the program reads.
        objects: The numbers of those that it reads as objects with the field ``v``.
        rules: The columns that each rule makes.
        places: The rule and the text of each call of a user-defined function.
    """

    columns: TableSchema
    program: int
    reads: tuple[str, ...]
    objects: frozenset[int]
    rules: tuple[RuleColumns, ...]
    places: tuple[str, ...] = ()


class ImageReader:
    """Read the values of rows that programs need.

    Args:
        tables: The tables.
        fitting: The ids of those whose rows have their columns already.
    """

    def __init__(self, tables: Mapping[str, TableImages], fitting: frozenset[str]) -> None:
        self._tables = tables
        self._converter = ChangeConverter(
            {name: (name,) for name in tables}, {name: table.columns for name, table in tables.items()}, fitting
        )
        self._readers: dict[str, Callable[[bytes, str], list[str | None]]] = {}

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield changes with the columns of `IMAGE_COLUMNS`, in the changes' order."""
        return map(self._read_batch, self._converter.convert(batches))

    def _read_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        images: list[tuple[list[str | None] | None, ...]] = []
        programs: list[int] = []
        texts = (batch.column(name).to_pylist() for name in ("table", "operation"))
        for table, operation, *rows in zip(*texts, *row_images(batch), strict=True):
            read = self._readers.get(table) or self._readers.setdefault(table, _value_reader(table, self._tables))
            kinds = _ROW_KINDS[operation]
            images.append(
                tuple(None if row is None else read(row, kind) for row, kind in zip(rows, kinds, strict=True))
            )
            programs.append(self._tables[table].program)
        values = [pa.array(programs, pa.int32()), pa.array(images, _IMAGES)]
        return pa.RecordBatch.from_arrays([*batch.columns, *values], [*batch.schema.names, "program", "images"])


def _value_reader(name: str, tables: Mapping[str, TableImages]) -> Callable[[bytes, str], list[str | None]]:
    table = tables[name]
    names = columns_of(table.columns).names
    values_of = raw_reader(names)
    places = {column: index for index, column in enumerate(names)}
    metadata = table_metadata(table_id(name))
    kind_column = METADATA_COLUMNS[-1]

    def read(row: bytes, kind: str) -> list[str | None]:
        values = values_of(row)
        found: list[str | None] = []
        for number, column in enumerate(table.reads):
            if column in places:
                found.append(_text(bytes(values[places[column]]), is_object=number in table.objects))
            else:
                found.append(kind if column == kind_column else metadata[column])
        return found

    return read


def _text(value: bytes, *, is_object: bool) -> str | None:
    if value == b"null":
        return None
    if is_object:
        return f'{{"v":{value.decode()}}}'
    return _decode_text(value) if value.startswith(b'"') else value.decode()


class _Result(NamedTuple):
    row: bytes
    soft_delete: bool


class _Change(NamedTuple):
    operation: str
    before: bytes | None
    after: bytes | None


class TransformedChanges:
    """Make the rows of transformed changes of what programs have computed.

    Args:
        tables: The tables that are transformed.
    """

    def __init__(self, tables: Mapping[str, TableImages]) -> None:
        self._tables = tables
        self._makers: dict[str, Callable[[bytes, str], _Result]] = {}

    def make(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield changes with the columns that a parser's have; those of other tables as they are."""
        return map(self._make_batch, batches)

    def _make_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        results = batch.column("results")
        batch = batch.drop_columns(["results"])
        if results.null_count == len(results):
            return batch
        rows: list[int] = []
        operations: list[str] = []
        befores: list[bytes | None] = []
        afters: list[bytes | None] = []
        names = (batch.column(name).to_pylist() for name in ("table", "operation"))
        for index, (table, operation, before, after, texts) in enumerate(
            zip(*names, *row_images(batch), results.to_pylist(), strict=True)
        ):
            change: _Change | None = _Change(operation, before, after)
            if table in self._tables:
                change = self._change(table, operation, (before, after), texts)
            if change is not None:
                rows.append(index)
                operations.append(change.operation)
                befores.append(change.before)
                afters.append(change.after)
        taken = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows, pa.int64()))
        return changes_of(taken, taken.column("table").to_pylist(), operations, befores, afters)

    def _change(
        self, table: str, operation: str, rows: tuple[bytes | None, ...], results: list[str | None]
    ) -> _Change | None:
        """Return a change; None where the filters leave no row."""
        make = self._makers.get(table) or self._makers.setdefault(table, _row_maker(self._tables[table]))
        old, new = (
            None if row is None or text is None else make(row, text) for row, text in zip(rows, results, strict=True)
        )
        if old is None and new is None:
            return None
        if operation == "d" and old is not None and old.soft_delete:
            # Soft deletion: the row is inserted instead of deleted
            return _Change("c", None, old.row)
        before, after = (None if each is None else each.row for each in (old, new))
        return _Change("d" if after is None else "c" if before is None else "u", before, after)


def _row_maker(table: TableImages) -> Callable[[bytes, str], _Result]:
    names = columns_of(table.columns).names
    values_of = raw_reader(names)
    places = {column: index for index, column in enumerate(names)}
    most = max(sum(source is None for _, source in rule.columns) for rule in table.rules)
    read = raw_reader([RULE, *(value_name(number) for number in range(most))])
    rules = {b"%d" % number: _RuleRows(rule, places) for number, rule in enumerate(table.rules)}

    def make(row: bytes, text: str) -> _Result:
        number, *computed = read(text)
        return rules[bytes(number)].make(values_of(row), computed)

    return make


class _RuleRows:
    def __init__(self, rule: RuleColumns, places: Mapping[str, int]) -> None:
        self._soft_delete = rule.soft_delete
        # Computed values come behind those of the row
        numbers = iter(range(len(places), len(places) + len(rule.columns)))
        self._columns = [
            (b"%b:" % _encode(name), next(numbers) if source is None else places[source])
            for name, source in rule.columns
        ]

    def make(self, values: tuple[msgspec.Raw, ...], computed: list[msgspec.Raw]) -> _Result:
        every = (*values, *computed)
        fields = [name + bytes(every[place]) for name, place in self._columns]
        return _Result(b"{%b}" % b",".join(fields), self._soft_delete)
