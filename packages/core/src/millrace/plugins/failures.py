"""Name the plugin that an unexpected exception comes from."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from types import FrameType, TracebackType

from millrace.errors import MillraceError, PluginFailedError

_loaded: dict[str, str] = {}
"""The plugins that this process has loaded: what messages call them, by the module of their class."""


def note_loaded(module: str, plugin: str) -> None:
    """Remember a plugin that was loaded.

    Args:
        module: The name of the module of its class.
        plugin: Its kind, name, distribution and version, for messages.
    """
    _loaded[module] = plugin


@contextmanager
def plugin_errors() -> Iterator[None]:
    """Let an exception that a plugin should not raise name the plugin.

    Raises:
        PluginFailedError: A plugin has raised one.
    """
    try:
        yield
    except Exception as error:
        failure = plugin_failure(error)
        if failure is None:
            raise
        raise failure from error


def plugin_failure(error: Exception) -> PluginFailedError | None:
    """Return the error that names the plugin which has raised another one; None where no plugin has.

    An error of millrace is raised on purpose, and says itself what is wrong; too little memory is no plugin's fault.
    """
    if isinstance(error, (MillraceError, MemoryError)):
        return None
    frames = list(traceback.walk_tb(error.__traceback__))
    # A frame of a plugin's own module says more than an earlier one of its package, such as that of a user's program
    for find in (_loaded.get, _nearest_plugin):
        for frame, line in frames:
            plugin = find(str(frame.f_globals.get("__name__", "")))
            if plugin is not None:
                return PluginFailedError(
                    f"{plugin} failed in {frame.f_code.co_qualname} with {type(error).__name__}: "
                    f"{' '.join(str(error).split())} ({_place(frame, line, error.__traceback__)}). This is a fault of "
                    f"the plugin: report it to its author, or use another one; the environment variable "
                    f"MILLRACE_FULL_TRACEBACKS = 1 shows all frames"
                )
    return None


def _nearest_plugin(module: str) -> str | None:
    """Return the plugin whose class is nearest to a module in the module's package."""
    shared = {other: _shared_packages(other, module) for other in _loaded}
    nearest = max(shared, key=shared.__getitem__, default=None)
    return None if nearest is None or not shared[nearest] else _loaded[nearest]


def _shared_packages(one: str, other: str) -> int:
    both = zip(one.split("."), other.split("."), strict=False)
    return sum(1 for _ in takewhile(lambda names: names[0] == names[1], both))


def _place(frame: FrameType, line: int, trace: TracebackType | None) -> str:
    """Return where the exception was raised, if that is in the same package, else where the plugin called others."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    for inner, inner_line in traceback.walk_tb(trace):
        if str(inner.f_globals.get("__name__", "")).partition(".")[0] == package:
            frame, line = inner, inner_line
    return f"{frame.f_code.co_filename}, line {line}"
