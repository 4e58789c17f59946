"""Hypothesis strategies for Avro schemas, for columns that they can be read into, and for bytes of their values."""

from __future__ import annotations

import itertools
import json
import struct
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from millrace_formats.avro.schema.model import AvroArray, AvroEnum, AvroMap, AvroType, Fixed, Primitive, Record, Union

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")

LEAVES: list[tuple[Any, list[pa.DataType]]] = [
    ("boolean", [pa.bool_()]),
    ("int", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]),
    ("long", [pa.int64(), pa.float32(), pa.float64(), NTZ, UTC]),
    ("float", [pa.float32(), pa.float64()]),
    ("double", [pa.float64()]),
    ("string", [pa.string(), pa.binary()]),
    ("bytes", [pa.binary(), pa.string(), pa.decimal128(10, 2), pa.decimal128(38, 38)]),
    ({"type": "string", "logicalType": "uuid"}, [pa.string()]),
    ({"type": "int", "logicalType": "date"}, [pa.date32(), pa.int32()]),
    ({"type": "int", "logicalType": "time-millis"}, [pa.time64("us"), pa.time64("ns"), pa.int64()]),
    ({"type": "long", "logicalType": "time-micros"}, [pa.time64("us"), pa.time64("ns"), pa.int64()]),
    *(
        ({"type": "long", "logicalType": f"{kind}timestamp-{unit}"}, [NTZ, UTC])
        for kind, unit in itertools.product(("", "local-"), ("millis", "micros", "nanos"))
    ),
    *(
        ({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}, [
            pa.decimal128(precision, scale), pa.decimal128(38, 10), pa.decimal128(5, 0), pa.binary(),
        ])
        for precision, scale in ((10, 2), (38, 0), (30, 20), (5, 5))
    ),
    ({"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}, [NTZ, pa.int64()]),
]  # fmt: skip


class Case(NamedTuple):
    """A schema as JSON, and columns that it can be read into."""

    text: str
    columns: pa.Schema


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw schemas of records, and columns for some of their fields and for some that they do not have."""
    numbers = itertools.count()
    fields: list[Any] = []
    columns = []
    for index in range(draw(st.integers(1, 4))):
        schema, type_ = draw(_types(numbers, 3))
        fields.append({"name": f"a{index}", "type": schema})
        if draw(st.integers(0, 3)) or not columns:
            columns.append(pa.field(f"a{index}", type_, draw(st.integers(0, 4)) > 0))
    if draw(st.booleans()):
        columns.append(pa.field("missing", pa.string()))
    schema = {"type": "record", "name": "top", "fields": fields}
    whole = ["null", schema] if draw(st.integers(0, 4)) == 0 else schema
    return Case(json.dumps(whole), pa.schema(draw(st.permutations(columns))))


def _types(numbers: Any, depth: int) -> st.SearchStrategy[tuple[Any, pa.DataType]]:
    leaves = [_leaf(numbers), _leaf(numbers), _named(numbers)]
    if depth == 0:
        return st.one_of(leaves)
    inner = st.deferred(lambda: _types(numbers, depth - 1))
    lists = st.tuples(inner, st.booleans()).map(
        lambda part: ({"type": "array", "items": part[0][0]}, pa.list_(pa.field("element", part[0][1], part[1])))
    )
    maps = st.tuples(inner, st.booleans()).map(
        lambda part: (
            {"type": "map", "values": part[0][0]},
            pa.map_(pa.string(), pa.field("value", part[0][1], part[1])),
        )
    )
    return st.one_of(*leaves, lists, maps, _records(numbers, inner), _unions(inner))


def _leaf(numbers: Any) -> st.SearchStrategy[tuple[Any, pa.DataType]]:
    return st.sampled_from(LEAVES).flatmap(lambda leaf: st.tuples(st.just(leaf[0]), st.sampled_from(leaf[1])))


@st.composite
def _named(draw: st.DrawFn, numbers: Any) -> tuple[Any, pa.DataType]:
    name = f"n{next(numbers)}"
    kind = draw(st.sampled_from(["enum", "fixed", "decimal", "uuid"]))
    if kind == "enum":
        return {"type": "enum", "name": name, "symbols": ["RED", "GREEN", "BLUE"]}, pa.string()
    if kind == "uuid":
        return {"type": "fixed", "name": name, "size": 16, "logicalType": "uuid"}, pa.string()
    size = draw(st.sampled_from([1, 3, 4, 8, 12, 16, 20]))
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": size}, pa.binary()
    schema = {"type": "fixed", "name": name, "size": size, "logicalType": "decimal", "precision": 2 * size, "scale": 2}
    return schema, pa.decimal128(min(38, 2 * size), 2)


@st.composite
def _records(draw: st.DrawFn, numbers: Any, inner: Any) -> tuple[Any, pa.DataType]:
    parts = draw(st.lists(st.tuples(inner, st.integers(0, 4), st.booleans()), min_size=1, max_size=3))
    name = f"n{next(numbers)}"
    fields = [{"name": f"b{index}", "type": schema} for index, ((schema, _), _, _) in enumerate(parts)]
    columns = [
        pa.field(f"b{index}", type_, null > 0)
        for index, ((_, type_), null, wanted) in enumerate(parts)
        if wanted or index == 0
    ]
    return {"type": "record", "name": name, "fields": fields}, pa.struct(columns)


@st.composite
def _unions(draw: st.DrawFn, inner: Any) -> tuple[Any, pa.DataType]:
    schema, type_ = draw(inner.filter(lambda part: not isinstance(part[0], list)))
    kind = schema if isinstance(schema, str) else schema["type"]
    others = [other for other in ("boolean", "double", "string") if other != kind]
    choices = [["null", schema], [schema, "null"], ["null", schema], [schema], ["null", others[0], schema, others[1]]]
    return draw(st.sampled_from(choices)), type_


def datums(type_: AvroType) -> st.SearchStrategy[bytes]:
    """Draw encoded values of a type, lists and maps in blocks with and without a size."""
    if isinstance(type_, Record):
        return st.tuples(*(datums(field.type) for field in type_.fields)).map(b"".join)
    if isinstance(type_, Union):
        branches = [datums(branch).map(lambda data, i=i: number(i) + data) for i, branch in enumerate(type_.branches)]
        return st.one_of(branches)
    if isinstance(type_, AvroArray):
        return _blocks(datums(type_.items))
    if isinstance(type_, AvroMap):
        keys = st.sampled_from(["a", "b", "ü"]).map(lambda text: octets(text.encode()))
        return _blocks(st.tuples(keys, datums(type_.values)).map(b"".join))
    if isinstance(type_, Fixed):
        return st.binary(min_size=type_.size, max_size=type_.size)
    if isinstance(type_, AvroEnum):
        return st.integers(0, len(type_.symbols) - 1).map(number)
    return _scalars(type_)


def _scalars(type_: Primitive) -> st.SearchStrategy[bytes]:
    if type_.kind == "int":
        small = st.integers(0, 86_399_999) if type_.logical else st.integers(-200, 40_000)
        # Sometimes beyond 32 bits
        return st.one_of(small, small, st.integers(-(2**31), 2**31 - 1), st.integers(-(2**33), 2**33)).map(number)
    if type_.kind == "long":
        small = st.integers(0, 86_399_999_999) if type_.logical else st.integers(-200, 40_000)
        return st.one_of(small, small, st.integers(-(2**63), 2**63 - 1)).map(number)
    if type_.logical and type_.logical.name == "decimal":
        whole = st.integers(-(10**type_.logical.precision), 10**type_.logical.precision)
        return whole.map(lambda value: octets(value.to_bytes(value.bit_length() // 8 + 1, signed=True)))
    return _SCALARS[type_.kind]


def _blocks(item: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    blocks = st.lists(st.tuples(st.lists(item, min_size=1, max_size=3), st.booleans()), max_size=2)

    def join(parts: list[tuple[list[bytes], bool]]) -> bytes:
        written = b""
        for items, sized in parts:
            data = b"".join(items)
            written += (number(-len(items)) + number(len(data)) if sized else number(len(items))) + data
        return written + b"\0"

    return blocks.map(join)


def number(value: int) -> bytes:
    """Encode an int or a long."""
    bits = ((value << 1) ^ (value >> 63)) & (2**64 - 1)
    written = bytearray()
    while bits > 0x7F:
        written.append(bits & 0x7F | 0x80)
        bits >>= 7
    return bytes([*written, bits])


def octets(value: bytes) -> bytes:
    """Encode bytes or a string."""
    return number(len(value)) + value


_SCALARS = {
    "null": st.just(b""),
    "boolean": st.sampled_from([b"\0", b"\1"]),
    "float": st.floats(width=32).map(struct.Struct("<f").pack),
    "double": st.floats().map(struct.Struct("<d").pack),
    "bytes": st.binary(max_size=20).map(octets),
    "string": (st.text(st.characters(codec="utf-8"), max_size=8).map(str.encode) | st.binary(max_size=2)).map(octets),
}
