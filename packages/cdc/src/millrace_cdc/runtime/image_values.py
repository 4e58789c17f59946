"""Values that programs of transforms read, and rows of what they compute, on the executors.

A row's columns stay JSON: Spark gets only the values that an expression reads, as texts, and what a transform merely
copies is never converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import pyarrow as pa

from millrace.change_dialects import REPLICA_IDENTITY_HINT
from millrace.errors import MessageError
from millrace_cdc.rows.change_records import changes_of, kept_columns, row_images
from millrace_cdc.rows.compiled_readers import NULL, raw_reader
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.projection import table_metadata
from millrace_cdc.runtime.table_schema import SourceTableSchema, columns_of
from millrace_cdc.runtime.transform_programs import RuleColumns, value_name
from millrace_cdc.table_id import table_id
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

    columns: SourceTableSchema
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
        texts: list[str | None] = []
        for number, column in enumerate(table.reads):
            if column in places:
                texts.append(_text(bytes(values[places[column]]), is_object=number in table.objects))
            else:
                texts.append(kind if column == kind_column else metadata[column])
        return texts

    return read


def _text(value: bytes, *, is_object: bool) -> str | None:
    if value == b"null":
        return None
    if is_object:
        return f'{{"v":{value.decode()}}}'
    return _decode_text(value) if value.startswith(b'"') else value.decode()


class _TransformedChange(NamedTuple):
    operation: str
    before: bytes | None
    after: bytes | None
    kept_columns: Sequence[str] = ()


class _Result(NamedTuple):
    row: bytes
    rule: RuleColumns

    def updated(self, kept_names: Sequence[str], before: bytes | None = None) -> _TransformedChange:
        """Return an update to the row; columns that are made of kept ones are kept too."""
        names = kept_names and [
            name for (name, _), reads in zip(self.rule.columns, self.rule.reads, strict=True) if reads & {*kept_names}
        ]
        return _TransformedChange("u", before, self.row, names)


class TransformedChanges:
    """Make the rows of transformed changes of what programs have computed.

    Args:
        tables: The tables that are transformed.
    """

    def __init__(self, tables: Mapping[str, TableImages]) -> None:
        self._tables = tables
        self._makers: dict[str, _RowMaker] = {}

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
        kept_before, kept_after = kept_columns(batch), dict[int, Sequence[str]]()
        names = (batch.column(name).to_pylist() for name in ("table", "operation"))
        for index, (table, operation, before, after, texts) in enumerate(
            zip(*names, *row_images(batch), results.to_pylist(), strict=True)
        ):
            change: _TransformedChange | None = _TransformedChange(operation, before, after, kept_before.get(index, ()))
            if table in self._tables and change is not None:
                try:
                    change = self._change(table, change, texts)
                except ValueError as error:
                    raise MessageError(_unknown_row(batch, index, table, error)) from None
            if change is not None:
                if change.kept_columns:
                    kept_after[len(rows)] = change.kept_columns
                rows.append(index)
                operations.append(change.operation)
                befores.append(change.before)
                afters.append(change.after)
        taken = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows, pa.int64()))
        return changes_of(taken, taken.column("table").to_pylist(), operations, befores, afters, kept_after)

    def _change(self, table: str, change: _TransformedChange, results: list[str | None]) -> _TransformedChange | None:
        """Return a change; None where the filters leave no row.

        Raises:
            ValueError: A filter cannot tell whether the sink has the row whose values stay.
        """
        rows = self._makers.get(table) or self._makers.setdefault(table, _RowMaker(self._tables[table]))
        operation, *images, kept_names = change
        old, new = (
            None if row is None or text is None else rows.make(row, text)
            for row, text in zip(images, results, strict=True)
        )
        if undecided := rows.undecided & {*kept_names}:
            raise ValueError(min(undecided))
        if operation == "u" and change.before is None and change.after is not None:
            # The old row may have met a condition
            return _TransformedChange("d", rows.copy(change.after), None) if new is None else new.updated(kept_names)
        if old is None and new is None:
            return None
        if operation == "d" and old is not None and old.rule.soft_delete:
            # Soft deletion: the row is inserted instead of deleted
            return _TransformedChange("c", None, old.row)
        before, after = (None if image is None else image.row for image in (old, new))
        if before is not None and new is not None:
            return new.updated(kept_names, before)
        return _TransformedChange("d" if after is None else "c", before, after)


def _unknown_row(batch: pa.RecordBatch, index: int, table: str, error: ValueError) -> str:
    topic, partition, offset = (batch.column(name)[index].as_py() for name in ("topic", "partition", "offset"))
    return (
        f"message in topic {topic!r}, partition {partition}, offset {offset}: the database did not send column "
        f"{str(error)!r}, which the update of table {table!r} leaves as it was, and with a filter the sink may not "
        f"have the row. {REPLICA_IDENTITY_HINT}, or leave the column out of projection and filter"
    )


class _RowMaker:
    """Makes rows of a table.

    Attributes:
        undecided: The columns without whose values nothing says which rows the sink has, or gets.
    """

    def __init__(self, table: TableImages) -> None:
        names = columns_of(table.columns).names
        self._values_of = raw_reader(names)
        places = {column: index for index, column in enumerate(names)}
        most = max(sum(source is None for _, source in rule.columns) for rule in table.rules)
        self._read = raw_reader([RULE, *(value_name(number) for number in range(most))])
        self._rules = {b"%d" % number: _RuleRows(rule, places) for number, rule in enumerate(table.rules)}
        self._nulls = [NULL] * most
        read = (column for rule in table.rules for columns in (*rule.reads, rule.condition or ()) for column in columns)
        has_conditions = any(rule.condition is not None for rule in table.rules)
        self.undecided = frozenset(read) if has_conditions else frozenset[str]()

    def make(self, row: bytes, text: str) -> _Result:
        """Make a row of what a program has computed."""
        number, *computed = self._read(text)
        return self._rules[bytes(number)].make(self._values_of(row), computed)

    def copy(self, row: bytes) -> bytes:
        """Make a row of the columns that the first rule copies, with NULL in the others."""
        return self._rules[b"0"].make(self._values_of(row), self._nulls).row


class _RuleRows:
    def __init__(self, rule: RuleColumns, places: Mapping[str, int]) -> None:
        self._rule = rule
        # Computed values come behind those of the row
        numbers = iter(range(len(places), len(places) + len(rule.columns)))
        self._columns = [
            (b"%b:" % _encode(name), next(numbers) if source is None else places[source])
            for name, source in rule.columns
        ]

    def make(self, values: tuple[msgspec.Raw, ...], computed: list[msgspec.Raw]) -> _Result:
        every = (*values, *computed)
        fields = [name + bytes(every[place]) for name, place in self._columns]
        return _Result(b"{%b}" % b",".join(fields), self._rule)
