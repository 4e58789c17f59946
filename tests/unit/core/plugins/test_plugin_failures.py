"""Exceptions of plugins name the plugin."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace.plugins import FORMAT, failures, plugin_manager
from millrace.plugins.failures import plugin_failure

BROKEN = "support.mistakes.plugins:BrokenFormat"
SCHEMA = pa.schema([("id", pa.int32())])


def test_kind_name_method_and_message_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = plugin_manager().load(FORMAT, BROKEN)(None).decoder(SCHEMA)
    with pytest.raises(KeyError) as raised:
        decoder.decode(None)

    # A plugin in the package of this test, such as other tests have, is not the one whose module raises
    monkeypatch.setitem(failures._loaded, f"{__package__ or __name__}.other", "another plugin")
    told = str(plugin_failure(raised.value))

    assert told.startswith(f"format {BROKEN!r} failed in BrokenDecoder.decode with KeyError: 'it is broken' (")
    assert "plugins.py, line " in told


@pytest.mark.parametrize("error", [MessageError("on purpose"), MemoryError(), pa.ArrowMemoryError()])
def test_no_plugin_is_named_for_others(error: Exception) -> None:
    plugin_manager().load(FORMAT, BROKEN)
    assert plugin_failure(error) is None


def test_no_plugin_is_named_for_an_exception_of_millrace_itself() -> None:
    with pytest.raises(KeyError) as raised:
        exec("{}['nothing']", {"__name__": "package_of_no_plugin"})
    # Other tests' plugins are in the package of this test, so its own frame is left out
    of_no_plugin = raised.value.with_traceback(raised.value.__traceback__.tb_next)
    assert plugin_failure(of_no_plugin) is None
