"""What reads a format's messages for the sake of their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from millrace_catalog.inference.observation import Observation
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import DataType


class PayloadReader(Protocol):
    """Tells what messages of one format say of their tables.

    Attributes:
        format: The format's name.
        options: Its options.
        fixed: Types of columns that are not inferred.
    """

    @property
    def format(self) -> str: ...  # noqa: D102

    @property
    def options(self) -> FormatOptions: ...  # noqa: D102

    @property
    def fixed(self) -> Mapping[str, DataType]: ...  # noqa: D102

    def read(self, payload: bytes | None) -> Observation | None:
        """What a message says; None when it says nothing, as a tombstone.

        Raises:
            MalformedMessageError: It is no message of the format.
        """
