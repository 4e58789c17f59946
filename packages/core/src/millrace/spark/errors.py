"""Show millrace's errors to the user of Spark."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import MachineError, MillraceError, PluginError, SchemaChangedError, SchemaError
from millrace.plugins.failures import plugin_errors
from millrace.pyspark_internals import hide_worker_traceback, silence_lost_worker


@contextmanager
def user_errors() -> Iterator[None]:
    """Let a MillraceError reach the user as its message alone.

    Spark puts the Python stack of a failed worker into the error that it raises on the driver. A MillraceError says
    all that a person needs, so its stack is left out. The worker ends with this error in any case, so that no other
    error is affected. An exception that a plugin should not raise names the plugin.
    """
    silence_lost_worker()
    try:
        with plugin_errors():
            yield
    except MillraceError:
        hide_worker_traceback()
        raise


@contextmanager
def executor_errors() -> Iterator[None]:
    """Let a MillraceError of a task reach the user, as `user_errors` does, with the executor that it comes from.

    The driver has checked plugins, columns and metadata before. An executor that finds them wrong mostly has other
    packages installed, so its host and its interpreter are named.
    """
    with user_errors():
        try:
            yield
        except SchemaChangedError:
            # A message does not fit, wherever it is read
            raise
        except (MachineError, PluginError, SchemaError) as error:
            if sys.executable not in str(error):
                error.args = (f"{error}. Raised on host {socket.gethostname()} by {sys.executable}",)
            raise
