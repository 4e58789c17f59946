"""The options of the avro format, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option


@dataclass(frozen=True)
class AvroOptions:
    """The options of avro."""

    encoding: Literal["binary", "json"] = option(
        "encoding", default="binary", doc="Which of Avro's encodings: binary, or JSON, which people can read."
    )
    legacy_timestamps: bool = option(
        "timestamp_mapping.legacy",
        default=True,
        doc="TIMESTAMP and TIMESTAMP_NTZ are both timestamp-millis; if false TIMESTAMP is timestamp-micros and "
        "TIMESTAMP_NTZ local-timestamp-micros.",
    )
    schema: str | None = option(
        "schema",
        default=None,
        doc="The schema of the messages as JSON; by default the one that is derived from the columns (an addition).",
    )
