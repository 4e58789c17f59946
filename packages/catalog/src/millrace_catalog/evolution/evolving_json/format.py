"""The format json-evolving, which `restart_on_schema_change` reads with."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Encoder, Format, Payloads
from millrace.errors import SchemaError, SchemaMismatchError
from millrace.plugins import FORMAT, plugin_manager
from millrace_catalog.evolution.evolving_json.options import EvolvingJsonOptions
from millrace_catalog.evolution.evolving_json.schema_guard import SchemaGuard
from millrace_catalog.types import Schema


class EvolvingJsonFormat(Format):
    """Read as json does, but fail on a message that does not fit the columns."""

    Options = EvolvingJsonOptions
    options: EvolvingJsonOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``, whose types option ``columns`` gives as well."""
        parsed = self.options.parsed
        guard = SchemaGuard(Schema(self.options.columns), parsed.inference)
        if not self.options.columns:
            return FirstKeyDecoder(schema, guard)
        inner: Format = plugin_manager().load(FORMAT, "json")(parsed.format)
        return GuardedDecoder(inner.decoder(schema), guard)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Refuse to write: SchemaError."""
        raise SchemaError("format 'json-evolving' only reads; write with format 'json'")


class GuardedDecoder(Decoder):
    """Decode messages that fit the columns.

    Args:
        inner: Decoder of json.
        guard: Check that messages fit.
    """

    def __init__(self, inner: Decoder, guard: SchemaGuard) -> None:
        self._inner = inner
        self._guard = guard

    def explain(self) -> str:
        """Describe how messages are decoded."""
        return f"{self._inner.explain()}; first checks that each message fits the columns"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; SchemaMismatchError for a message that does not fit."""
        self._guard.check(payloads.to_list())
        return self._inner.decode(payloads)


class FirstKeyDecoder(Decoder):
    """Decode keys to NULL until the first message with a key, whose fields become columns.

    Args:
        schema: The key probe, a column that stays NULL.
        guard: Check of keys that are JSON objects.
    """

    def __init__(self, schema: pa.Schema, guard: SchemaGuard) -> None:
        self._schema = schema
        self._guard = guard

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode to NULL; SchemaMismatchError for a key that has fields, or is not a JSON object."""
        keys = payloads.to_list()
        self._guard.check(keys)
        for index, key in enumerate(keys):
            if key and not self._guard.is_object(key):
                raise SchemaMismatchError(index, "no message had a key so far, and this one is not a JSON object")
        nulls = [pa.nulls(len(keys), field.type) for field in self._schema]
        return Decoded(pa.RecordBatch.from_arrays(nulls, schema=self._schema))
