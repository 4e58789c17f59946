"""Write raw values one row at a time in Avro's binary encoding, by fastavro.

pyruhvro writes many rows at once; this is for the schemas that it does not take.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from millrace_formats.avro.schema.fastavro_schema import fastavro_schema, type_name
from millrace_formats.avro.writer.raw_columns import field_names
from millrace_formats.avro.writer.write_plan import WriteList, WriteMap, WriteNull, WritePlan, WriteRecord, WriteUnion

Convert = Callable[[Any], Any]


def binary_writer(plan: WritePlan) -> Callable[[bytes, Any], bytes]:
    """Return a function that writes a raw value after a frame; a record's come as a dict, by its fields ``f<i>``."""
    import fastavro

    plain, named = fastavro_schema(plan.writer)
    schema, convert = fastavro.parse_schema(plain), _Conversions(named).of(plan, plain)

    def write(frame: bytes, value: Any) -> bytes:
        message = BytesIO(frame)
        message.seek(len(frame))
        fastavro.schemaless_writer(message, schema, convert(value))
        return message.getvalue()

    return write


class _Conversions:
    """Conversions of raw values to what fastavro takes: it has dicts for maps, and a tuple names the branch of a union.

    Args:
        named: The named types of the schema, by their names.
    """

    def __init__(self, named: dict[str, Any]) -> None:
        self._named = named

    def of(self, plan: WritePlan, schema: Any) -> Convert:
        """Return the conversion of the values of a plan."""
        schema = self._named.get(schema, schema) if isinstance(schema, str) else schema
        if isinstance(plan, WriteUnion):
            return self._union(plan, schema)
        if isinstance(plan, WriteList):
            convert_item = self.of(plan.item, schema["items"])
            return lambda items: [convert_item(item) for item in items]
        if isinstance(plan, WriteMap):
            convert_value = self.of(plan.value, schema["values"])
            return lambda pairs: {key: convert_value(value) for key, value in pairs}
        if isinstance(plan, WriteRecord):
            return self._record(plan, schema)
        return (lambda _: None) if isinstance(plan, WriteNull) else lambda value: value

    def _union(self, plan: WriteUnion, branches: list[Any]) -> Convert:
        name, convert = type_name(branches[plan.branch]), self.of(plan.value, branches[plan.branch])
        is_nullable = plan.null is not None
        return lambda value: None if value is None and is_nullable else (name, convert(value))

    def _record(self, plan: WriteRecord, schema: dict[str, Any]) -> Convert:
        parts = zip(plan.parts, schema["fields"], field_names(len(plan.parts)), strict=True)
        fields = [(name, self.of(part, field["type"])) for (part, _), field, name in parts]
        return lambda record: {name: convert(record[name]) for name, convert in fields}
