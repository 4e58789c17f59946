"""Protobuf's own library, which is an extra of this package."""

from __future__ import annotations

import socket
import sys

from millrace.errors import MachineError


def check_library() -> None:
    """Refuse to go on without protobuf's library.

    Raises:
        MachineError: It is not installed, or too old; says how to install it.
    """
    try:
        import google.protobuf
        from google.protobuf.descriptor import FieldDescriptor
    except ImportError as error:
        raise _missing(f"which cannot be imported ({error})") from None
    if not hasattr(FieldDescriptor, "is_repeated"):
        raise _missing(f"6.31 or newer, and there is {google.protobuf.__version__}")


def _missing(what: str) -> MachineError:
    return MachineError(
        f"format 'protobuf' needs the library protobuf, {what}, for {sys.executable} on host {socket.gethostname()}; "
        f"run there: pip install 'millrace-formats[protobuf]'"
    )
