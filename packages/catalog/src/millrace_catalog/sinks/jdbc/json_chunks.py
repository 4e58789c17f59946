"""Arrays of rows as JSON, each small enough for one statement."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from millrace_catalog.sinks.normalized_json import normalized

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 5_000
"""The number of rows of a statement by default."""

_CHUNK_BYTES = 4 * 2**20
_EXACT_DIGITS = 15

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class RowRecoding:
    """Values to write otherwise than rows have them; plain data that travels to executors.

    Attributes:
        hex_columns: Columns of bytes, to write in hexadecimal digits instead of base64.
        binary_columns: Columns of DOUBLE, to write as ``[m, e]`` for m times the eth power of 2, where their decimal
            digits may be read inexactly.
        text_keys: Columns of the primary key that are stored as text, with the kinds of their types, such as DECIMAL:
            equal values must have equal texts.
    """

    hex_columns: frozenset[str] = frozenset()
    binary_columns: frozenset[str] = frozenset()
    text_keys: Mapping[str, str] = field(default_factory=dict)

    def recode(self, rows: Iterable[bytes]) -> Iterable[bytes]:
        """Return the rows, written so."""
        return map(self._recode, rows) if self._has_any else rows

    @property
    def _has_any(self) -> bool:
        return bool(self.hex_columns or self.binary_columns or self.text_keys)

    def _recode(self, row: bytes) -> bytes:
        values = _decode(row)
        for names, write in ((self.hex_columns, _hex), (self.binary_columns, _binary)):
            for name in names & values.keys():
                value = msgspec.json.decode(values[name])
                if value is not None:
                    values[name] = msgspec.Raw(_encode(write(value)))
        for name, kind in self.text_keys.items():
            values[name] = msgspec.Raw(normalized(kind, bytes(values[name])))
        return _encode(values)


def _hex(value: str) -> str:
    return base64.b64decode(value).hex()


def _binary(value: float | str) -> Any:
    # A text is no finite number; short ones are read exactly
    if isinstance(value, str) or (len(repr(value)) <= _EXACT_DIGITS and "e" not in repr(value)):
        return value
    numerator, denominator = value.as_integer_ratio()
    exponent = (numerator & -numerator).bit_length() - denominator.bit_length()
    return [numerator >> max(exponent, 0), exponent] if numerator else value


def json_chunks(rows: Iterable[bytes], max_rows: int = CHUNK_ROWS) -> Iterator[str]:
    """Yield arrays of rows, in order.

    Args:
        rows: Rows as JSON objects.
        max_rows: The largest number of rows of an array; it ends sooner when it has some megabytes.
    """
    chunk: list[bytes] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row)
        if len(chunk) >= max_rows or size >= _CHUNK_BYTES:
            yield _array(chunk)
            chunk, size = [], 0
    if chunk:
        yield _array(chunk)


def chunk_texts(batches: Iterable[pa.RecordBatch], recoding: RowRecoding) -> Iterator[pa.RecordBatch]:
    """Join rows, texts of the one column of batches, to arrays; on the executors.

    Args:
        batches: The rows.
        recoding: Values to write otherwise.

    Yields:
        Batches with one row, the array, in the column ``rows``.
    """
    import pyarrow as pa

    rows = (row.encode() for batch in batches for row in batch.column(0).to_pylist())
    for text in json_chunks(recoding.recode(rows)):
        yield pa.record_batch({"rows": pa.array([text], pa.string())})


def _array(rows: list[bytes]) -> str:
    return f"[{b','.join(rows).decode()}]"
