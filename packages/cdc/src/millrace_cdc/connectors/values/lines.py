"""Changes as lines of text, such as ``+I shop.orders {"id": 1}``, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from millrace.contracts import PipelineSchemaChange
from millrace_catalog.types import Schema
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.spark import from_spark_schema
from millrace_cdc.rows.change_encoding import encode_change
from millrace_cdc.table_id import TableId

_OPERATIONS: Mapping[str, Any] = {"+I": "c", "+U": "u", "-D": "d"}
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode
_LINE = re.compile(r"\s*(?P<kind>[+-][IU]|-D)\s+(?P<table>(?:`(?:[^`]|``)+`|[^\s`])+)\s+(?P<row>.*)")


def parse_changes(text: str) -> tuple[bytes, ...]:
    """Parse changes into messages of `encode_change`; empty lines and those that begin with # count for nothing.

    Raises:
        ValueError: A line is no change.
    """
    return tuple(_messages(text))


def _messages(text: str) -> Iterator[bytes]:
    old: tuple[int, str, dict[str, Any]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        kind, table, row = _parse_line(number, line)
        if (old is not None) != (kind == "+U") or (old is not None and old[1] != table):
            place = number if old is None else old[0]
            raise ValueError(f"line {place}: expected -U with the old row, and +U with the new one behind it")
        if kind == "-U":
            old = number, table, row
            continue
        before = old[2] if old is not None else row if kind == "-D" else None
        old = None
        yield encode_change(table, _OPERATIONS[kind], before, None if kind == "-D" else row)
    if old is not None:
        raise ValueError(f"line {old[0]}: expected -U with the old row, and +U with the new one behind it")


def _parse_line(number: int, line: str) -> tuple[str, str, dict[str, Any]]:
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f'line {number}: expected +I, -U, +U or -D, a table and its row, such as +I db.t {{"id": 1}}')
    try:
        return match["kind"], str(TableId.parse(match["table"])), _decode(match["row"])
    except (msgspec.MsgspecError, InvalidOperation) as error:
        raise ValueError(f"line {number}: expected a row as a JSON object: {error}") from None
    except ValueError as error:
        raise ValueError(f"line {number}: {error}; got {match['table']!r}") from None


def change_lines(table: str, operation: str, before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield the lines of a change, as `parse_changes` reads them."""
    kinds = {"c": ("", "+I"), "u": ("-U", "+U"), "d": ("-D", "")}[operation]
    for kind, row in zip(kinds, (before, after), strict=True):
        if kind and row is not None:
            yield f"{kind} {table} {row.decode()}"


def schema_change_line(change: PipelineSchemaChange) -> str:
    """Return a schema change as a statement of Flink's SQL."""
    table, schema = change.table, from_spark_schema(change.table.schema, lengths=True)
    if change.type == "create.table":
        names = ", ".join(map(quote_name, table.primary_key))
        key = f", PRIMARY KEY ({names}) NOT ENFORCED" if names else ""
        return f"CREATE TABLE {table.id} ({schema}{key});"
    columns = Schema(tuple(column for column in schema if column.name in change.columns))
    word = "ADD" if change.type == "add.column" else "MODIFY"
    return f"ALTER TABLE {table.id} {word} ({columns});"
