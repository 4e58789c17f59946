"""Base of sources whose changes are rows with types, and no messages of Kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from millrace.contracts import SampledMessage
from millrace_catalog.inference import FormatOptions
from millrace_cdc.rows.change_encoding import FORMAT
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.source import MessageSource


class RowSource(MessageSource):
    """Base of sources that write the rows of their changes as messages of their own."""

    @property
    def parser_settings(self) -> ParserSettings:
        """The settings of the parser of its messages."""
        return ParserSettings(FORMAT, FormatOptions())

    def newest_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Return none: columns are given, or those of the first changes."""
        return {}
