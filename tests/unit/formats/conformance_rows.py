"""Rows of all scalar types, and of them nested in lists, maps and structs, for conformance suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

SCALARS = pa.schema(
    [
        ("boolean", pa.bool_()),
        ("tinyint", pa.int8()),
        ("smallint", pa.int16()),
        ("int", pa.int32()),
        ("bigint", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("decimal", pa.decimal128(38, 18)),
        ("string", pa.string()),
        ("binary", pa.binary()),
        ("date", pa.date32()),
        ("time", pa.time64("us")),
        ("timestamp", pa.timestamp("us", "America/New_York")),
        ("timestamp_ntz", pa.timestamp("us")),
    ],
    metadata={"origin": "tests"},
)
SCALAR_ROWS = [
    {
        "boolean": True,
        "tinyint": -128,
        "smallint": 32767,
        "int": -(2**31),
        "bigint": 2**63 - 1,
        "float": 0.5,
        "double": 1e300,
        "decimal": Decimal("12345678901234567890.000000000000000001"),
        "string": 'line\nbreak, "quote" \\ ; ü 😀',
        "binary": b"\x00\xff",
        "date": date(1969, 12, 31),
        "time": time(23, 59, 59, 999999),
        "timestamp": datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
        "timestamp_ntz": datetime(1, 1, 1),
    },
    {
        "boolean": False,
        "tinyint": 0,
        "smallint": 0,
        "int": 0,
        "bigint": 0,
        "float": -0.0,
        "double": float("inf"),
        "decimal": Decimal("0E-18"),
        "string": "",
        "binary": b"",
        "date": date(9999, 12, 31),
        "time": time(0, 0),
        "timestamp": datetime(9999, 12, 31, 12, 59, 59, 999999, tzinfo=UTC),
        "timestamp_ntz": datetime(2024, 2, 29, 12, 0, 0, 1),
    },
]
NULLS = dict.fromkeys(SCALARS.names)


class NestedRows:
    """The schema and rows of a suite whose format has all types, and nests them.

    Attributes:
        scalar_rows: Two rows of the scalar types.
    """

    scalar_rows: Sequence[Mapping[str, Any]] = SCALAR_ROWS

    def schema(self) -> pa.Schema:
        """Return the columns: each scalar type, and a list, a map and a struct of all of them."""
        scalars = pa.struct(list(SCALARS))
        nested = [("list", pa.list_(scalars)), ("map", pa.map_(pa.string(), scalars)), ("struct", scalars)]
        return pa.schema([*SCALARS, *(pa.field(*field) for field in nested)], metadata=SCALARS.metadata)

    def rows(self) -> pa.RecordBatch:
        """Return rows with values, with empty ones, and with nulls only."""
        first, second = map(dict, self.scalar_rows)
        rows = [
            first | {"list": [second, None, NULLS], "map": [("a\"'\n", first), ("", None)], "struct": second},
            second | {"list": [], "map": [], "struct": NULLS},
            NULLS | {"list": None, "map": None, "struct": None},
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())
