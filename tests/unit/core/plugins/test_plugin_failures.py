"""Exceptions of plugins name the plugin."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace.plugins import FORMAT, plugin_manager
from millrace.plugins.failures import plugin_failure

BROKEN = "support.mistakes.plugins:BrokenFormat"
SCHEMA = pa.schema([("id", pa.int32())])


def test_kind_name_method_and_message_are_told() -> None:
    decoder = plugin_manager().load(FORMAT, BROKEN)(None).decoder(SCHEMA)
    with pytest.raises(KeyError) as raised:
        decoder.decode(None)

    told = str(plugin_failure(raised.value))

    assert told.startswith(f"format {BROKEN!r} failed in BrokenDecoder.decode with KeyError: 'it is broken' (")
    assert "plugins.py, line " in told


@pytest.mark.parametrize("error", [MessageError("on purpose"), MemoryError(), pa.ArrowMemoryError()])
def test_no_plugin_is_named_for_others(error: Exception) -> None:
    plugin_manager().load(FORMAT, BROKEN)
    assert plugin_failure(error) is None


def test_no_plugin_is_named_for_an_exception_of_millrace_itself() -> None:
    with pytest.raises(KeyError) as raised:
        {}["nothing"]
    # The frame is this test's, which is in no package of a plugin
    assert plugin_failure(raised.value) is None
