"""The Avro formats: single values of one schema, ones whose schema a registry has, and Debezium's changes."""

from millrace_formats.avro.format import AvroFormat
from millrace_formats.avro.options import AvroOptions

__all__ = ["AvroFormat", "AvroOptions"]
