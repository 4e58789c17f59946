"""The protobuf format: one message of a protobuf type a message."""

from millrace_formats.protobuf.format import ProtobufFormat
from millrace_formats.protobuf.options import ProtobufOptions

__all__ = ["ProtobufFormat", "ProtobufOptions"]
