"""Check that protobuf's own library, an extra of this package, is installed."""

from __future__ import annotations

import socket
import sys

from millrace.errors import MachineError


def check_library() -> None:
    """Raise an error when protobuf's library is missing or too old.

    Raises:
        MachineError: It is; the message says how to install it.
    """
    try:
        import google.protobuf
        from google.protobuf.descriptor import FieldDescriptor
    except ImportError as error:
        raise _library_error(f"which cannot be imported ({error})") from None
    if not hasattr(FieldDescriptor, "is_repeated"):  # new in 6.31
        raise _library_error(f"6.31 or newer, and there is {google.protobuf.__version__}")


def _library_error(reason: str) -> MachineError:
    return MachineError(
        f"format 'protobuf' needs the library protobuf, {reason}, for {sys.executable} on host {socket.gethostname()}; "
        f"run there: pip install 'millrace-formats[protobuf]'"
    )
