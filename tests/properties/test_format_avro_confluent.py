"""Properties of Avro with a registry's frame: messages of several schemas, in any order and with any bytes."""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.contracts import Decoder, Payloads
from millrace.testing.format import check_decoded
from millrace_formats.avro.debezium_changes import METADATA_TYPES, envelope_fields, metadata_fields
from millrace_formats.avro.debezium_format import DebeziumDecoder
from millrace_formats.avro.reader.resolution import resolve
from millrace_formats.avro.registry.decoder import AvroFramedDecoder
from millrace_formats.avro.schema.model import AvroType
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.registry.frame import frame_of
from millrace_formats.registry.schema_registry import SchemaNotFoundError
from unit.formats.avro.schemas import cases, datums, number

FEW = settings(max_examples=settings.default.max_examples // 4)
NO_SCHEMA = 99


class Schemas(NamedTuple):
    """A registry of schemas by id."""

    by_id: dict[int, AvroType]

    def schema(self, schema_id: int) -> AvroType:
        """Return the schema of an id."""
        if schema_id not in self.by_id:
            raise SchemaNotFoundError(f"no schema {schema_id}")
        return self.by_id[schema_id]

    def encrypted(self, _schema_id: int) -> None:
        """Return that no rules encrypt its messages."""


class Mix(NamedTuple):
    """Columns, the schemas of the messages, and the messages."""

    columns: pa.Schema
    schemas: Schemas
    messages: list[bytes | None]

    def decoder(self) -> Decoder:
        """Make a decoder that has read no message yet."""
        plan = functools.partial(resolve, reader=None, schema=self.columns, legacy=True)
        return AvroFramedDecoder(self.columns, lambda: self.schemas, plan)


def messages_of(schemas: dict[int, AvroType]) -> st.SearchStrategy[list[bytes | None]]:
    """Draw messages of the schemas; some are damaged, or have the frame of a missing schema, or none."""
    ids = st.sampled_from([*schemas, *schemas, NO_SCHEMA])
    good = ids.flatmap(lambda id_: datums(schemas.get(id_, schemas[0])).map(lambda data: frame_of(id_) + data))
    broken = st.tuples(good, st.integers(0, 40), st.binary(max_size=3)).map(
        lambda part: part[0][: part[1]] + part[2] + part[0][part[1] :]
    )
    odd = st.sampled_from([None, b"", b"\0", frame_of(0), frame_of(0) + number(2**62), b"\1\0\0\0\0\0", b"\xff" * 9])
    return st.lists(st.one_of(good, good, good, good, broken, odd), max_size=20)


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    """Draw messages of up to three schemas, and columns of the first one."""
    drawn = [draw(cases()) for _ in range(draw(st.integers(1, 3)))]
    schemas = {number_: parse_schema(case.text) for number_, case in enumerate(drawn)}
    return Mix(drawn[0].columns, Schemas(schemas), draw(messages_of(schemas)))


def check_alone(decoder: Decoder, schema: pa.Schema, messages: list[bytes | None]) -> None:
    """Check that a batch decodes as its messages do one by one."""
    together = decoder.decode(Payloads(messages))
    check_decoded(together, schema, len(messages))
    rows: list[Any] = []
    errors = []
    for index, message in enumerate(messages):
        alone = decoder.decode(Payloads([message]))
        kinds = [None] * alone.rows.num_rows if alone.row_kinds is None else alone.row_kinds.to_pylist()
        metadata = kinds if alone.metadata is None else alone.metadata.to_pylist()
        rows += [(index, *row) for row in zip(map(repr, alone.rows.to_pylist()), kinds, metadata, strict=True)]
        errors += [(index, error.reason) for error in alone.errors]
    count = together.rows.num_rows
    of = range(count) if together.message_index is None else together.message_index.to_pylist()
    kinds = [None] * count if together.row_kinds is None else together.row_kinds.to_pylist()
    metadata = kinds if together.metadata is None else together.metadata.to_pylist()
    assert list(zip(of, map(repr, together.rows.to_pylist()), kinds, metadata, strict=True)) == rows
    assert [(error.index, error.reason) for error in together.errors] == errors


@FEW
@given(mixes())
def test_a_message_reads_the_same_alone_and_among_others(mix: Mix) -> None:
    check_alone(mix.decoder(), mix.columns, mix.messages)


@FEW
@given(mixes(), st.randoms(use_true_random=False))
def test_earlier_batches_do_not_matter(mix: Mix, random: Any) -> None:
    used, fresh = mix.decoder(), mix.decoder()
    used.decode(Payloads(random.sample(mix.messages, len(mix.messages))))
    one, other = used.decode(Payloads(mix.messages)), fresh.decode(Payloads(mix.messages))
    assert repr(one.rows.to_pylist()) == repr(other.rows.to_pylist())
    assert one.errors == other.errors


SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": "db", "type": "string"}, {"name": "ts_ms", "type": "long"}],
}


@st.composite
def envelopes(draw: st.DrawFn) -> tuple[pa.Schema, dict[int, AvroType], list[bytes | None]]:
    """Draw columns, and envelopes of their rows, of up to two schemas."""
    drawn = [draw(cases().filter(lambda case: not case.text.startswith("["))) for _ in range(draw(st.integers(1, 2)))]
    schemas = {}
    for id_, case in enumerate(drawn):
        row = json.loads(case.text)
        envelope = {
            "type": "record",
            "name": "Envelope",
            "fields": [
                {"name": "before", "type": ["null", row], "default": None},
                {"name": "after", "type": ["null", row["name"]], "default": None},
                {"name": "source", "type": SOURCE},
                {"name": "op", "type": {"type": "enum", "name": "Op", "symbols": ["c", "r", "u", "d", "t"]}},
                {"name": "ts_ms", "type": ["null", "long"]},
            ],
        }
        schemas[id_] = parse_schema(json.dumps(envelope))
    return drawn[0].columns, schemas, draw(messages_of(schemas))


@FEW
@given(envelopes(), st.lists(st.sampled_from(sorted(METADATA_TYPES)), unique=True, max_size=3))
def test_an_envelope_reads_the_same_alone_and_among_others(
    case: tuple[pa.Schema, dict[int, AvroType], list[bytes | None]], keys: list[str]
) -> None:
    columns, schemas, messages = case
    envelope = pa.schema([*envelope_fields(columns), *metadata_fields(keys)])
    plan = functools.partial(resolve, reader=None, schema=envelope, legacy=True, texts=True)
    framed = AvroFramedDecoder(envelope, lambda: Schemas(schemas), plan, skips_empty=True)
    check_alone(DebeziumDecoder(framed, columns, keys), columns, messages)
