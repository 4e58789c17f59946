from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Decoded
from millrace.errors import PluginError, SchemaError
from millrace.source.decode import checked

SCHEMA = pa.schema([("id", pa.int64())])


def rows(*ids: int, kind: pa.DataType | None = None) -> pa.RecordBatch:
    return pa.record_batch({"id": pa.array(ids, kind or pa.int64())})


def test_what_keeps_the_contract_passes() -> None:
    decoded = Decoded(rows(1, 2))
    assert checked(decoded, SCHEMA, 2, "acme") is decoded


def test_columns_of_another_type_are_cast() -> None:
    assert checked(Decoded(rows(1, kind=pa.int32())), SCHEMA, 1, "acme").rows == rows(1)


def test_columns_that_cannot_be_cast_name_the_format() -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' gave other columns than it was asked for: "):
        checked(Decoded(pa.record_batch({"name": ["x"]})), SCHEMA, 1, "acme")


def test_rows_of_unknown_messages_are_refused() -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' gave 1 rows for 2 messages$"):
        checked(Decoded(rows(1)), SCHEMA, 2, "acme")


def test_changes_are_refused_and_not_read_as_rows() -> None:
    with pytest.raises(SchemaError, match=r"gives changes \(row kinds\), which cannot be read yet"):
        checked(Decoded(rows(1), row_kinds=pa.array(["-D"])), SCHEMA, 1, "acme")
