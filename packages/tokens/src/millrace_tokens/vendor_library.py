"""Report a vendor's library that is not installed, with the command that installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import MachineError


@contextmanager
def vendor_library(provider: str, extra: str) -> Iterator[None]:
    """Translate a failed import inside the block.

    Args:
        provider: The token provider's name.
        extra: The extra of millrace-tokens that installs the library.

    Raises:
        MachineError: The library cannot be imported.
    """
    try:
        yield
    except ImportError as error:
        raise MachineError(
            f"token provider {provider!r}: {error}. Install its library for the driver and all executors: "
            f"pip install 'millrace-tokens[{extra}]'"
        ) from error
