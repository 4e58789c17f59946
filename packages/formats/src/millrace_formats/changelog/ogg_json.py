"""The format of Oracle GoldenGate's (OGG) change messages, read as by Flink's ``OggJsonDeserializationSchema``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from millrace.change_dialects import GOLDENGATE
from millrace_formats.changelog.before_after import BeforeAfterLayout
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.metadata import MetadataKey, plain, timestamp_text

_LAYOUTS = {upserts: BeforeAfterLayout(GOLDENGATE, upserts=upserts) for upserts in (False, True)}


class OggJsonFormat(ChangelogJsonFormat):
    """``{"before": {...}, "after": {...}, "op_type": "U", "table": "T", "op_ts": "..."}``: op_type is I, U or D."""

    name = GOLDENGATE.format
    keys: ClassVar[Mapping[str, MetadataKey]] = {
        "table": MetadataKey("table", plain(pa.string())),
        "primary-keys": MetadataKey("primary_keys", plain(pa.list_(pa.string()))),
        "ingestion-timestamp": MetadataKey("current_ts", timestamp_text()),
        "event-timestamp": MetadataKey("op_ts", timestamp_text()),
    }

    @property
    def dialect(self) -> Dialect:
        """The layout of GoldenGate's messages."""
        return Dialect(_LAYOUTS[self.upserts])
