"""Retries of a sink that is away for a while: keys of the section ``sink``, whatever its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from millrace.options import option


@dataclass(frozen=True, kw_only=True)
class SinkRetryOptions:
    """The options of retries."""

    max_retries: Annotated[int, Ge(0)] = option(
        "sink.max-retries",
        default=7,
        doc="How often a micro-batch is retried while the sink's database, catalog or storage cannot be reached, "
        "after 1, 2, 4, 8, 16, 30, 30 ... seconds.",
    )
