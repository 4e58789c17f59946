"""The Avro schemas of a schema registry."""

from __future__ import annotations

import functools

from millrace_formats.avro.schema.model import AvroType
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.registry.client import registry_client
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.registry.schema_registry import SchemaRegistry, SchemaText


@functools.lru_cache(maxsize=16)
def avro_registry(format_name: str, options: RegistryOptions) -> SchemaRegistry[AvroType]:
    """Return this process's registry for some options.

    Raises:
        OptionsError: The options cannot be used.
    """
    return SchemaRegistry(registry_client(format_name, options), "AVRO", _parse)


def _parse(schema: SchemaText) -> AvroType:
    return parse_schema(schema.text, [reference.text for reference in schema.references])
