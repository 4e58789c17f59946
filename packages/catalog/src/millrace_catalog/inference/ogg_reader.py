"""Reader of ogg-json messages: those of Oracle GoldenGate's JSON formatter, with the rows before and after."""

from __future__ import annotations

from millrace.change_dialects import GOLDENGATE
from millrace_catalog.inference.image_reader import DialectReader
from millrace_catalog.inference.options import FormatOptions


class OggReader(DialectReader):
    """Read changes as GoldenGate writes them.

    Args:
        topic: Name of the topic.
        options: Options of ogg-json.
    """

    def __init__(self, topic: str, options: FormatOptions | None = None) -> None:
        super().__init__(GOLDENGATE, topic, options)
