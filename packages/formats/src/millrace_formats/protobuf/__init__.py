"""The protobuf format: one protobuf message a Kafka message."""

from millrace_formats.protobuf.format import ProtobufFormat
from millrace_formats.protobuf.options import ProtobufOptions

__all__ = ["ProtobufFormat", "ProtobufOptions"]
