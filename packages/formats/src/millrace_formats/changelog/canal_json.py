"""The format of Canal's change messages, read as by Flink's ``CanalJsonDeserializationSchema``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from millrace.change_dialects import CANAL
from millrace.options import option
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.metadata import MetadataKey, epoch, plain
from millrace_formats.changelog.name_filter import NameFilter
from millrace_formats.changelog.old_values import OldValueListsLayout
from millrace_formats.changelog.options import ChangeOptions

_MILLISECOND = 1_000
_LAYOUTS = {upserts: OldValueListsLayout(CANAL, upserts=upserts) for upserts in (False, True)}


def parse_pattern(text: str) -> str:
    """Check a regular expression in Java's syntax; ValueError when it is not one."""
    from millrace.options.java_pattern import java_pattern

    java_pattern(text)
    return text


@dataclass(frozen=True)
class CanalOptions(ChangeOptions):
    """The options of canal-json."""

    database_include: str | None = option(
        "database.include",
        default=None,
        parse=parse_pattern,
        doc="Reads only the changes in databases whose whole names match this regular expression, as in Java.",
    )
    table_include: str | None = option(
        "table.include",
        default=None,
        parse=parse_pattern,
        doc="Reads only the changes of tables whose whole names match this regular expression, as in Java.",
    )


class CanalJsonFormat(ChangelogJsonFormat):
    """``{"data": [{...}], "old": [{...}], "type": "UPDATE", "table": "t"}``: type is INSERT, UPDATE or DELETE.

    Statements, heartbeats and watermarks give no rows; the reference refuses all of them but CREATE.
    """

    Options = CanalOptions
    options: CanalOptions

    name = CANAL.format
    keys: ClassVar[Mapping[str, MetadataKey]] = {
        "database": MetadataKey("database", plain(pa.string())),
        "table": MetadataKey("table", plain(pa.string())),
        "sql-type": MetadataKey("sqlType", plain(pa.map_(pa.string(), pa.int32()))),
        "pk-names": MetadataKey("pkNames", plain(pa.list_(pa.string()))),
        "ingestion-timestamp": MetadataKey("ts", epoch(_MILLISECOND)),
        "event-timestamp": MetadataKey("es", epoch(_MILLISECOND)),
    }

    @property
    def dialect(self) -> Dialect:
        """The layout of Canal's messages, and the databases and tables to read."""
        options = {"database": self.options.database_include, "table": self.options.table_include}
        patterns = {field: pattern for field, pattern in options.items() if pattern is not None}
        return Dialect(
            _LAYOUTS[self.upserts], None, NameFilter(patterns) if patterns else None, has_database_values=True
        )
