"""The json-confluent format: JSON objects whose JSON Schema a registry has."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder
from millrace_formats.json.registry.codec import JsonRegistryCodec
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.registry.client import check_client_installed
from millrace_formats.registry.format import RegistryFormat
from millrace_formats.registry.subjects import SubjectName

_NAME = "json-confluent"


class JsonConfluentFormat(RegistryFormat):
    """One JSON object a message, behind a frame that names its JSON Schema by the id that a registry gave it.

    Fields match columns by name, and values are converted as those of json are. A write registers the schema that is
    derived from the columns, or the one of option ``schema``.
    """

    Options = JsonRegistryOptions
    options: JsonRegistryOptions
    name = _NAME

    @classmethod
    def check_requirements(cls) -> None:
        """Check that the registry's client is installed: see `Plugin.check_requirements`."""
        check_client_installed(_NAME)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        check_client_installed(_NAME)
        return JsonRegistryCodec(_NAME, self.options).decoder(schema)

    def _encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        check_client_installed(_NAME)
        return JsonRegistryCodec(_NAME, self.options).encoder(schema, subject)

    def _columns(self, subject: str) -> pa.Schema | None:
        check_client_installed(_NAME)
        return JsonRegistryCodec(_NAME, self.options).columns(subject)
