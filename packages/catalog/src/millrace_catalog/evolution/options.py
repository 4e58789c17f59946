"""The option of following schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option


@dataclass(frozen=True)
class EvolutionOptions:
    """How a table's schema follows its messages."""

    strategy: Literal["continuous", "static"] = option(
        "schema.inference.strategy",
        default="continuous",
        doc="Whether a table's schema follows its messages (continuous) or stays what it was at first (static).",
    )
