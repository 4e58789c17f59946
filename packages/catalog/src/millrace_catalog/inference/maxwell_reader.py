"""Reader of maxwell-json messages: https://maxwells-daemon.io/dataformat/."""

from __future__ import annotations

from millrace.change_dialects import MAXWELL
from millrace_catalog.inference.image_reader import DialectReader
from millrace_catalog.inference.options import FormatOptions


class MaxwellReader(DialectReader):
    """Read changes as Maxwell writes them.

    Args:
        topic: Name of the topic.
        options: Options of maxwell-json.
    """

    def __init__(self, topic: str, options: FormatOptions | None = None) -> None:
        super().__init__(MAXWELL, topic, options)
