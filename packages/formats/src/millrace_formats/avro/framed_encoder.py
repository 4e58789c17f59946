"""The rows of framed messages: their schema is registered when the first ones are written."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from millrace.contracts import Payloads
from millrace.errors import OptionsError
from millrace_formats.avro.encoder import BinaryRows
from millrace_formats.avro.frame import frame_of
from millrace_formats.avro.put import Put
from millrace_formats.avro.registry import Registry
from millrace_formats.avro.registry_options import RegistryOptions


class FramedRows:
    """Writes rows with the frame of their schema.

    Args:
        put: How rows are written.
        register: Gives the schema's id; asked once.
    """

    def __init__(self, put: Put, register: Callable[[], int]) -> None:
        self._put = put
        self._register = register
        self._rows: BinaryRows | None = None

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """The rows as messages.

        Raises:
            MessageError: A value cannot be written.
            RegistryError: The registry does not accept the schema, or could not be asked.
        """
        if not rows.num_rows:
            return Payloads([])
        if self._rows is None:
            self._rows = BinaryRows(self._put, frame_of(self._register()))
        return self._rows.write(rows)


def registration(
    format_name: str, options: RegistryOptions, registry: Callable[[], Registry], text: str, default_subject: str | None
) -> Callable[[], int]:
    """Registers a schema, when it is called.

    Args:
        format_name: The format's name, for errors.
        options: Its options.
        registry: Gives the registry.
        text: The schema.
        default_subject: The subject, where the options do not say; None where nothing says.
    """

    def register() -> int:
        subject = options.subject or default_subject
        if subject is None:
            raise OptionsError(format_name, ("option 'subject' is required where rows are not written to a topic",))
        return registry().register(subject, text, is_new=options.auto_register)

    return register
