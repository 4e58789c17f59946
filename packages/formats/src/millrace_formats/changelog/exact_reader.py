"""Read changes one message at a time: slow and complete. The fast reader gives the same rows.

Rows are read by json's conversions (`millrace_formats.json.exact_reader`). Fields besides the rows that the message's
operation needs are ignored, as long as the message is JSON. An empty, blank or null message gives no rows, and neither
does one that its tool's description says to skip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace.wording import not_an_object
from millrace_formats.changelog.canal_values import DatabaseValues
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.exact_rows import ExactRows
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.json.exact_reader import read_document
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.parser import shown


class ExactChangeReader:
    """Read messages one at a time.

    Args:
        schema: The columns of the rows.
        keys: The requested metadata.
        dialect: The layout of messages, and the options of reading them.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, keys: Sequence[MetadataKey], dialect: Dialect, options: JsonOptions) -> None:
        self._rows = ExactRows(schema, options)
        self._metadata = [(key.is_of_root, key.converter(options)) for key in keys]
        self._dialect = dialect
        self._database_values = DatabaseValues(schema) if dialect.has_database_values else None
        self._ignore = options.ignore_parse_errors

    def read(self, payload: bytes | None) -> list[tuple[Any, ...]]:
        """Read the rows of a message, ready for ``pa.array``: the columns, the metadata, and the kind as a number.

        Raises:
            MalformedMessageError: The message cannot be decoded.
        """
        return read_document(payload, self._changes, ignore_errors=self._ignore) or []

    def _changes(self, root: Any) -> list[tuple[Any, ...]]:
        if root is None:
            return []
        if not isinstance(root, dict):
            raise MalformedMessageError(not_an_object(root, shown(root)))
        message = self._payload(root)
        if message is None or self._dialect.layout.messages.skip_reason(message) is not None:
            return []
        name_filter = self._dialect.name_filter
        if name_filter is not None and not name_filter.matches(root):
            return []
        if self._database_values is not None:
            self._database_values.replace(message)
        changes = self._dialect.layout.read(message, self._rows)
        metadata = [convert(root if of_root else message) for of_root, convert in self._metadata] if changes else []
        return [(*row, *metadata, kind) for kind, row in changes]

    def _payload(self, root: dict[str, Any]) -> dict[str, Any] | None:
        if not self._dialect.has_payload:
            if self._dialect.has_payload is False and "payload" in root and self._dialect.layout.field not in root:
                raise MalformedMessageError("the change is in the field payload: set the option schema-include to true")
            return root
        if "payload" not in root:
            raise MalformedMessageError("there is no field payload: set the option schema-include to false")
        payload = root["payload"]
        if payload is None and root.get("schema", ...) is None:
            # A tombstone of Kafka Connect's converter
            return None
        if not isinstance(payload, dict):
            raise MalformedMessageError(f"expected an object, found {shown(payload)}", "payload")
        return payload
