"""Arguments that the managed restart refuses before it starts."""

from __future__ import annotations

from typing import Any

import pytest

from millrace.errors import MachineError
from millrace_catalog import restart_on_schema_change


def test_a_session_of_spark_connect_is_refused() -> None:
    a_session: Any = object()
    table: Any = None
    with pytest.raises(MachineError, match="a session of Spark Connect has none: run it where the driver is"):
        restart_on_schema_change(table, lambda rows, schema: rows, spark=a_session, checkpoint_location="checkpoint")
