"""The format json-evolving."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace.errors import SchemaError
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import plugin_manager
from millrace_catalog.evolution.evolving_json.decoder import EvolvingDecoder, FirstKeyDecoder
from millrace_catalog.evolution.evolving_json.options import EvolvingJsonOptions
from millrace_catalog.evolution.evolving_json.schema_guard import Watch
from millrace_catalog.types import Schema


class EvolvingJsonFormat(Format):
    """Reads as json does, but a message that does not fit the columns ends the read: see `restart_on_schema_change`."""

    Options = EvolvingJsonOptions
    options: EvolvingJsonOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``, whose types the option ``columns`` says as well."""
        parsed = self.options.parsed
        watch = Watch(Schema(self.options.columns), parsed.inference)
        if not self.options.columns:
            return FirstKeyDecoder(schema, watch)
        inner: Format = plugin_manager().load(FORMAT, "json")(parsed.format)
        return EvolvingDecoder(inner.decoder(schema), watch)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """There is none."""
        raise SchemaError("format 'json-evolving' only reads; write with format 'json'")
