"""The protobuf decoder: ptars for most messages, the exact reader for the others."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace_formats.protobuf.options import MessageOptions
from millrace_formats.protobuf.ptars.handler import ptars_handler
from millrace_formats.protobuf.ptars.wire_type import UnsupportedError
from millrace_formats.protobuf.reader.exact_reader import ProtobufExactReader
from millrace_formats.protobuf.reader.parser import MessageParser
from millrace_formats.protobuf.reader.ptars_reader import PtarsReader
from millrace_formats.protobuf.schema.mapping import map_schema
from millrace_formats.shared.fallback_decoder import FallbackDecoder


class ProtobufDecoder(FallbackDecoder):
    """Decode messages of one type to rows.

    Protobuf's own library parses every message to check it; ptars then reads those that it accepts, a batch at once.
    Messages that ptars would read otherwise (several members of a oneof, a repeated map key, numbers that a closed enum
    does not have, timestamps out of range) go to the exact reader, alone.

    Args:
        schema: The columns.
        message_class: The class of the messages.
        options: The options of protobuf.
    """

    def __init__(self, schema: pa.Schema, message_class: Any, options: MessageOptions) -> None:
        row = map_schema(schema, message_class.DESCRIPTOR, read_default_values=options.read_default_values)
        parser = MessageParser(message_class)
        try:
            handler = ptars_handler(row, with_oneofs=True)
            fast = PtarsReader(parser, handler, row, schema)
            self._unsupported = ""
        except UnsupportedError as error:
            fast = None
            self._unsupported = str(error)
        super().__init__(schema, fast, ProtobufExactReader(parser, row, options.ignore_parse_errors))

    def _no_fast_reason(self) -> str:
        return self._unsupported

    def _exact_only(self) -> str:
        return "those that ptars may not read exactly"
