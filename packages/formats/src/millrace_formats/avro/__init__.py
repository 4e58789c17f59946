"""The Avro formats: single values of one schema, values whose schema a registry has, and Debezium's changes."""

from millrace_formats.avro.format import AvroFormat, AvroOptions

__all__ = ["AvroFormat", "AvroOptions"]
