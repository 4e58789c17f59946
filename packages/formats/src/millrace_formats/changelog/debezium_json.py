"""The format of Debezium's change messages, read as by Flink's ``DebeziumJsonDeserializationSchema``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from millrace.change_dialects import DEBEZIUM
from millrace.contracts import Encoder
from millrace.errors import SchemaError
from millrace.options import option
from millrace_formats.changelog.before_after import BeforeAfterLayout
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.metadata import MetadataKey, document, epoch, plain, properties
from millrace_formats.changelog.options import ChangeOptions

_MILLISECOND = 1_000
_LAYOUTS = {upserts: BeforeAfterLayout(DEBEZIUM, upserts=upserts) for upserts in (False, True)}


@dataclass(frozen=True)
class DebeziumOptions(ChangeOptions):
    """The options of debezium-json."""

    schema_include: bool = option(
        "schema-include",
        default=False,
        doc="Whether messages hold their schema next to the payload, as with Kafka Connect's "
        "value.converter.schemas.enable; such are read, not written.",
    )


class DebeziumJsonFormat(ChangelogJsonFormat):
    """``{"before": {...}, "after": {...}, "op": "u", "source": {...}, "ts_ms": 1}``: op is c, r, u or d."""

    Options = DebeziumOptions
    options: DebeziumOptions

    name = DEBEZIUM.format
    keys: ClassVar[Mapping[str, MetadataKey]] = {
        "schema": MetadataKey("schema", document(), is_of_root=True),
        "ingestion-timestamp": MetadataKey("ts_ms", epoch(_MILLISECOND)),
        "source.timestamp": MetadataKey("source", epoch(_MILLISECOND), "ts_ms"),
        "source.database": MetadataKey("source", plain(pa.string()), "db"),
        "source.schema": MetadataKey("source", plain(pa.string()), "schema"),
        "source.table": MetadataKey("source", plain(pa.string()), "table"),
        "source.properties": MetadataKey("source", properties()),
    }

    @property
    def dialect(self) -> Dialect:
        """The layout of Debezium's messages, with or without their schema."""
        return Dialect(_LAYOUTS[self.upserts], has_payload=self.options.schema_include)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; SchemaError when a type is not supported, or with schema-include."""
        if self.options.schema_include:
            raise SchemaError(
                "format debezium-json reads messages that include their schema, but does not write such: set its "
                "option schema-include to false"
            )
        return super().encoder(schema)
