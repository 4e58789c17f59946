"""The format of Maxwell's change messages, read as by Flink's ``MaxwellJsonDeserializationSchema``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from millrace.change_dialects import MAXWELL
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.metadata import MetadataKey, epoch, plain
from millrace_formats.changelog.old_values import OldValuesLayout

_SECOND = 1_000_000
_LAYOUTS = {upserts: OldValuesLayout(MAXWELL, upserts=upserts) for upserts in (False, True)}


class MaxwellJsonFormat(ChangelogJsonFormat):
    """``{"data": {...}, "old": {...}, "type": "update", "table": "t", "ts": 1}``: type is insert, update or delete."""

    name = MAXWELL.format
    keys: ClassVar[Mapping[str, MetadataKey]] = {
        "database": MetadataKey("database", plain(pa.string())),
        "table": MetadataKey("table", plain(pa.string())),
        "primary-key-columns": MetadataKey("primary_key_columns", plain(pa.list_(pa.string()))),
        "ingestion-timestamp": MetadataKey("ts", epoch(_SECOND)),
    }

    @property
    def dialect(self) -> Dialect:
        """The layout of Maxwell's messages."""
        return Dialect(_LAYOUTS[self.upserts])
