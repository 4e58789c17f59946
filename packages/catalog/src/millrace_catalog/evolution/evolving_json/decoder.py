"""Decoders that watch what they read."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import SchemaMismatchError
from millrace_catalog.evolution.evolving_json.schema_guard import Watch


class EvolvingDecoder(Decoder):
    """Decodes messages that fit the columns.

    Args:
        inner: The decoder of json.
        watch: Tells whether they fit.
    """

    def __init__(self, inner: Decoder, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch

    def explain(self) -> str:
        """Which path messages take."""
        return f"{self._inner.explain()}; each is looked at once more for what does not fit the columns"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; raises SchemaMismatchError for a message that does not fit."""
        self._watch.check(payloads.to_list())
        return self._inner.decode(payloads)


class FirstKeyDecoder(Decoder):
    """Waits, where no message had a key so far, for the first one.

    Args:
        schema: A column, which stays NULL.
        watch: Tells what a key has that is a JSON object.
    """

    def __init__(self, schema: pa.Schema, watch: Watch) -> None:
        self._schema = schema
        self._watch = watch

    def decode(self, payloads: Payloads) -> Decoded:
        """Give NULLs; raises SchemaMismatchError for a key that has fields, or is no JSON object."""
        keys = payloads.to_list()
        self._watch.check(keys)
        for index, key in enumerate(keys):
            if key and not self._watch.is_object(key):
                raise SchemaMismatchError(index, "no message had a key so far, and this one is no JSON object")
        nulls = [pa.nulls(len(keys), field.type) for field in self._schema]
        return Decoded(pa.RecordBatch.from_arrays(nulls, schema=self._schema))
