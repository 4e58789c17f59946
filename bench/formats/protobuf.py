"""Protobuf messages, beside spark-protobuf where that can be had, and beside protobuf's own library by hand."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from bench.data import ARROW_SCHEMA, record_rows
from bench.formats.case import FormatCase, plugin

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NAME = "bench.Record"
_KINDS = {"id": "INT64", "user": "STRING", "amount": "DOUBLE", "country": "STRING", "qty": "INT32", "flag": "BOOL"}


def protobuf(folder: Path, *, has_jar: bool) -> FormatCase:
    """Make the case.

    Args:
        folder: Where to write the descriptors.
        has_jar: Whether Spark has spark-protobuf.
    """
    file = folder / "records.desc"
    file.write_bytes(_descriptors())
    options = {"protobuf.message-class-name": _NAME, "protobuf.descriptor-set": str(file)}
    encoder = plugin("protobuf", options).create().encoder(ARROW_SCHEMA)
    return FormatCase(
        "protobuf",
        messages=lambda start, stop: list(encoder.encode(record_rows(start, stop)).to_list()),
        bad=lambda message: message[:-1],
        in_spark=_InSpark() if has_jar else None,
        by_hand=_ByHand(),
        decode_target=2,
        read_target=1.5,
        options=options,
        lenient={"protobuf.ignore-parse-errors": "true"},
    )


class _InSpark:
    reads, writes = "from_protobuf", "to_protobuf"

    def rows(self, values: DataFrame) -> DataFrame:
        from pyspark.sql.protobuf.functions import from_protobuf

        record = from_protobuf("value", _NAME, binaryDescriptorSet=_descriptors())
        return values.select(record.alias("record")).select("record.*")

    def value(self) -> Column:
        from pyspark.sql.functions import expr
        from pyspark.sql.protobuf.functions import to_protobuf

        return to_protobuf(expr("struct(*)"), _NAME, binaryDescriptorSet=_descriptors())


class _ByHand:
    name = "protobuf's library by hand"

    def rows(self, messages: Sequence[bytes]) -> pa.RecordBatch:
        decoded = list(map(_message_class().FromString, messages))
        columns = {name: [getattr(message, name) for message in decoded] for name in _KINDS}
        columns["ts"] = [message.ts.ToMicroseconds() for message in decoded]
        return pa.RecordBatch.from_arrays(
            [pa.array(columns[field.name], field.type) for field in ARROW_SCHEMA], schema=ARROW_SCHEMA
        )

    def messages(self, rows: pa.RecordBatch) -> list[bytes]:
        made = []
        for row in rows.to_pylist():
            time = row.pop("ts")
            message = _message_class()(**row)
            message.ts.FromDatetime(time.astimezone(UTC))
            made.append(message.SerializeToString())
        return made


@functools.cache
def _message_class() -> Any:
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(_descriptors()).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(_NAME))


@functools.cache
def _descriptors() -> bytes:
    package, _, name = _NAME.rpartition(".")
    file = FileDescriptorProto(name="records.proto", package=package, syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    message = file.message_type.add(name=name)
    for number, column in enumerate(ARROW_SCHEMA.names, 1):
        field = message.field.add(name=column, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        if column in _KINDS:
            field.type = FieldDescriptorProto.Type.Value(f"TYPE_{_KINDS[column]}")
        else:
            field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, ".google.protobuf.Timestamp"
    known = FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb)
    return FileDescriptorSet(file=[known, file]).SerializeToString()
