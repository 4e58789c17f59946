"""Descriptions of the change messages of each tool, for every part that reads or writes them.

Formats, inference, SQL and pipelines take operations, skipped messages, and the places of rows, tables and keys from
here. The messages are described on these pages:

- Debezium: https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events, heartbeats,
  transaction metadata, schema changes and logical decoding messages on the same site; as TiCDC writes it,
  https://docs.pingcap.com/tidb/dev/ticdc-debezium
- Canal: ``EventType`` in EntryProtocol.proto of https://github.com/alibaba/canal; as TiCDC writes it,
  https://docs.pingcap.com/tidb/stable/ticdc-canal-json/
- Maxwell: https://maxwells-daemon.io/dataformat/ and https://maxwells-daemon.io/bootstrapping/
- GoldenGate: https://docs.oracle.com/en/middleware/goldengate/big-data/19.1/gadbd/pluggable-formatters.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from millrace.errors import MalformedMessageError

_MAX_SHOWN = 60

REPLICA_IDENTITY_HINT = "In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL"
"""The advice for values that Debezium lacks because PostgreSQL does not send them."""


class Operation(Enum):
    """The change that a message makes; its value is a noun for errors."""

    INSERT = "an insertion"
    UPDATE = "an update"
    DELETE = "a deletion"
    TRUNCATE = "a truncation"


class SkipReason(Enum):
    """The reason to skip a message that changes nothing; its value names such a message."""

    TOMBSTONE = "tombstone"
    HEARTBEAT = "heartbeat"
    WATERMARK = "watermark"
    TRANSACTION = "transaction marker"
    STATEMENT = "statement"
    DATABASE_MESSAGE = "database message"
    BOOTSTRAP = "bootstrap marker"
    NO_ROWS = "empty change"
    FILTERED = "filtered message"
    IGNORED = "ignored malformed message"


@dataclass(frozen=True)
class MessageShape:
    """Messages that are recognized by their fields.

    Attributes:
        reason: The reason to skip them.
        required: The fields that they have.
        optional: Other fields that they may have; None where any others are allowed.
        values: The allowed values of some of the fields.
    """

    reason: SkipReason
    required: frozenset[str]
    optional: frozenset[str] | None = frozenset()
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def matches(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has exactly these fields and values."""
        names = message.keys()
        if not self.required <= names or (self.optional is not None and not names <= self.required | self.optional):
            return False
        return all(message[name] in allowed for name, allowed in self.values.items())


@dataclass(frozen=True)
class ChangeDialect:
    """The change messages of one tool.

    Attributes:
        format: The name of their format.
        operation_field: The field of the operation.
        operations: The change that each value of that field means.
        inserted: The value that is written for an insertion.
        deleted: The value that is written for a deletion.
        before: The field of the old row.
        after: The field of the new row; where old rows are partial, also of deleted rows.
        old_rows: ``whole``, or ``changed``: old rows have only the values that changed.
        has_row_lists: Whether a message has several rows, in lists.
        has_placeholders: Whether placeholders stand for values that the database did not send, see
            `millrace.unavailable_values`.
        table_fields: The paths of the parts of the table's name.
        key_field: The field with the names of the primary key's columns; None where there is none.
        skipped_operations: The values of the operation's field that change no row, with the reason to skip the message.
        skipped_shapes: Other messages to skip.
        old_row_hint: The advice for messages without the old row; empty where there is none.
        connector_hints: The advice for messages without a row, by the connector that ``source`` names.
        flattened_hint: The advice for messages without an operation; empty where there is none.
    """

    format: str
    operation_field: str
    operations: Mapping[str, Operation]
    inserted: str
    deleted: str
    before: str
    after: str
    old_rows: Literal["whole", "changed"]
    table_fields: tuple[tuple[str, ...], ...]
    key_field: str | None = None
    has_row_lists: bool = False
    has_placeholders: bool = False
    skipped_operations: Mapping[str, SkipReason] = field(default_factory=dict)
    skipped_shapes: tuple[MessageShape, ...] = ()
    old_row_hint: str = ""
    connector_hints: Mapping[str, str] = field(default_factory=dict)
    flattened_hint: str = ""

    def skip_reason(self, message: Mapping[str, Any]) -> SkipReason | None:
        """Return the reason to skip a parsed message; None where it is a change, or malformed."""
        name = message.get(self.operation_field)
        if isinstance(name, str) and name in self.operations:
            return None
        for shape in self.skipped_shapes:
            if shape.matches(message):
                return shape.reason
        return self.skipped_operations.get(name) if isinstance(name, str) else None

    def operation(self, message: Mapping[str, Any]) -> tuple[Operation, str]:
        """Return the operation of a parsed message that is not skipped, and its name there.

        Raises:
            MalformedMessageError: It has no operation, or an unknown one.
        """
        name = message.get(self.operation_field)
        if not isinstance(name, str) or name not in self.operations:
            raise self.unreadable_operation(name)
        return self.operations[name], name

    def unreadable_operation(self, name: Any) -> MalformedMessageError:
        """Make the error of an operation that is missing, unknown, or a truncation where only rows are read."""
        if name is None:
            hint = f": {self.flattened_hint}" if self.flattened_hint else ""
            return MalformedMessageError(f"the message has no operation{hint}", self.operation_field)
        if isinstance(name, str) and name in self.operations:
            return MalformedMessageError(
                f"{name!r} is {self.operations[name].value}, which rows of changes cannot say: read the topic with a "
                f"pipeline, which empties the table of its sink",
                self.operation_field,
            )
        shown = json.dumps(name, ensure_ascii=False)
        shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
        return MalformedMessageError(
            f"expected one of {', '.join(self.operations)}, found {shown}", self.operation_field
        )

    def row_advice(self, message: Mapping[str, Any]) -> str:
        """Return the advice that a message's connector needs about its rows; empty where it needs none."""
        source = message.get("source")
        connector = source.get("connector") if isinstance(source, Mapping) else None
        return self.connector_hints.get(connector, "") if isinstance(connector, str) else ""

    def missing_row(
        self, row_field: str, operation: Operation, name: str, message: Mapping[str, Any]
    ) -> MalformedMessageError:
        """Make the error of a message that lacks a row that its operation needs.

        Args:
            row_field: The field of the row.
            operation: The operation.
            name: Its name in the message.
            message: The message.
        """
        problem = "it has no columns" if message.get(row_field) == {} else "it is null"
        hint = self.row_advice(message) or (self.old_row_hint if row_field == self.before else "")
        return MalformedMessageError(
            f"{problem}, though the operation is {name!r}, {operation.value}{f': {hint}' if hint else ''}", row_field
        )

    def lacks_old_row(self, operation: Operation, message: Mapping[str, Any]) -> bool:
        """Return whether a message is an update with its new row only, as databases write it that log no old rows."""
        none: tuple[object, ...] = (None, {}) if self.old_rows == "whole" else (None,)
        return operation is Operation.UPDATE and message.get(self.before) in none and bool(message.get(self.after))

    def missing_old_row(self, message: Mapping[str, Any]) -> MalformedMessageError:
        """Make the error of an update that lacks its old row."""
        return self.missing_row(self.before, *self.operation(message), message)


_TIMES = frozenset({"ts_ms", "ts_us", "ts_ns"})
_DATABASE_AND_TABLE = (("database",), ("table",))

DEBEZIUM = ChangeDialect(
    format="debezium-json",
    operation_field="op",
    operations={
        "c": Operation.INSERT,
        "r": Operation.INSERT,
        "u": Operation.UPDATE,
        "d": Operation.DELETE,
        "t": Operation.TRUNCATE,
    },
    inserted="c",
    deleted="d",
    before="before",
    after="after",
    old_rows="whole",
    has_placeholders=True,
    table_fields=(("source", "db"), ("source", "schema"), ("source", "table")),
    # Written into the log by a program, with pg_logical_emit_message
    skipped_operations={"m": SkipReason.DATABASE_MESSAGE},
    skipped_shapes=(
        MessageShape(SkipReason.HEARTBEAT, frozenset({"ts_ms"}), frozenset({"ts_us", "ts_ns"})),
        # Without ts_ms until Debezium 2; PostgreSQL's connector has come to add the position of the commit
        MessageShape(
            SkipReason.TRANSACTION,
            frozenset({"status", "id"}),
            frozenset({"event_count", "data_collections", "commit_lsn"}) | _TIMES,
            {"status": ("BEGIN", "END")},
        ),
        MessageShape(
            SkipReason.STATEMENT,
            frozenset({"databaseName", "ddl"}),
            frozenset({"source", "schemaName", "tableChanges", "position"}) | _TIMES,
        ),
        # Of TiCDC; a message of the database has a field for its content
        MessageShape(
            SkipReason.WATERMARK,
            frozenset({"op", "source"}),
            frozenset({"transaction"}) | _TIMES,
            {"op": ("m",)},
        ),
    ),
    old_row_hint=f"the database does not send the old row. {REPLICA_IDENTITY_HINT}",
    connector_hints={
        "mongodb": "MongoDB's connector sends documents as text, or not at all. Let Debezium's transformation "
        "ExtractNewDocumentState write them as rows, and read these with the format json; in a pipeline, "
        "json.decode.deletion.field names the field that tells deletions"
    },
    flattened_hint="records that Debezium has flattened are read with the format json; in a pipeline, "
    "json.decode.deletion.field names the field that tells deletions, such as __deleted or __op",
)

CANAL = ChangeDialect(
    format="canal-json",
    operation_field="type",
    operations={
        "INSERT": Operation.INSERT,
        "UPDATE": Operation.UPDATE,
        "DELETE": Operation.DELETE,
        "TRUNCATE": Operation.TRUNCATE,
    },
    inserted="INSERT",
    deleted="DELETE",
    before="old",
    after="data",
    old_rows="changed",
    has_row_lists=True,
    table_fields=_DATABASE_AND_TABLE,
    key_field="pkNames",
    skipped_operations={
        **dict.fromkeys(("CREATE", "ALTER", "ERASE", "QUERY", "RENAME", "CINDEX", "DINDEX"), SkipReason.STATEMENT),
        **dict.fromkeys(("GTID", "XACOMMIT", "XAROLLBACK"), SkipReason.TRANSACTION),
        "MHEARTBEAT": SkipReason.HEARTBEAT,
        "TIDB_WATERMARK": SkipReason.WATERMARK,
    },
    skipped_shapes=(MessageShape(SkipReason.STATEMENT, frozenset({"isDdl"}), None, {"isDdl": (True,)}),),
)

MAXWELL = ChangeDialect(
    format="maxwell-json",
    operation_field="type",
    operations={
        "insert": Operation.INSERT,
        "update": Operation.UPDATE,
        "delete": Operation.DELETE,
        "bootstrap-insert": Operation.INSERT,
    },
    inserted="insert",
    deleted="delete",
    before="old",
    after="data",
    old_rows="changed",
    table_fields=_DATABASE_AND_TABLE,
    key_field="primary_key_columns",
    skipped_operations={
        **dict.fromkeys(("bootstrap-start", "bootstrap-complete"), SkipReason.BOOTSTRAP),
        **dict.fromkeys(
            (f"{kind}-{verb}" for kind in ("table", "database") for verb in ("create", "alter", "drop")),
            SkipReason.STATEMENT,
        ),
    },
)

GOLDENGATE = ChangeDialect(
    format="ogg-json",
    operation_field="op_type",
    operations={"I": Operation.INSERT, "U": Operation.UPDATE, "D": Operation.DELETE, "T": Operation.TRUNCATE},
    inserted="I",
    deleted="D",
    before="before",
    after="after",
    old_rows="whole",
    table_fields=(("table",),),
    key_field="primary_keys",
    old_row_hint="GoldenGate does not send the old row. Add GETUPDATEBEFORES and NOCOMPRESSUPDATES to the parameters "
    "of Extract",
)

CHANGE_DIALECTS: Mapping[str, ChangeDialect] = {
    dialect.format: dialect for dialect in (DEBEZIUM, CANAL, MAXWELL, GOLDENGATE)
}
"""The dialects by the names of their formats."""
