"""Check that protobuf's own library, an extra of this package, is installed."""

from __future__ import annotations

import socket
import sys

from millrace.errors import MachineError

_OLDEST = (6, 31)


def check_library() -> None:
    """Raise an error when protobuf's library is missing or too old.

    Raises:
        MachineError: It is; the message says how to install it.
    """
    try:
        from google.protobuf import __version__ as version
    except ImportError as error:
        raise _library_error(f"which cannot be imported ({error})") from None
    if tuple(map(int, version.split(".")[:2])) < _OLDEST:  # the first one with FieldDescriptor.is_repeated
        raise _library_error(f"{'.'.join(map(str, _OLDEST))} or newer, and there is {version}")


def _library_error(reason: str) -> MachineError:
    return MachineError(
        f"format 'protobuf' needs the library protobuf, {reason}, for {sys.executable} on host {socket.gethostname()}; "
        f"run there: pip install 'millrace-formats[protobuf]'"
    )
