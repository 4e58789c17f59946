"""Updates without their old row, for sinks that write all changes: no key of the sink makes upserts of them."""

from __future__ import annotations

from typing import Any

from millrace.contracts import SinkCapabilities
from millrace.options import option

_NAME = "sink.updates-without-old-row"


def missing_old_rows_option() -> Any:
    """Declare the option that says whether such updates are written."""
    return option(
        _NAME,
        default="fail",
        doc="How to write an update without its old row: fail, it is malformed; write, only the new row is written "
        "(an addition).",
    )


def with_missing_old_rows(capabilities: SinkCapabilities, choice: str) -> SinkCapabilities:
    """Return the capabilities of a sink whose option has some value."""
    return SinkCapabilities(
        capabilities.schema_changes,
        capabilities.guarantee,
        upserts=choice == "write",
        upsert_advice=f"To write the new row only, set '{_NAME}' of the sink to write",
    )
