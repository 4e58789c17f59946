"""Messages of change logs, and the result that each must have wherever it is read: rows, a reason to skip it, an error.

They follow the tools' documentation, which `millrace.change_dialects` names. Rows have the columns of `COLUMNS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from millrace.change_dialects import SkipReason

COLUMNS = "id BIGINT, v STRING"
TABLE = "shop.orders"

Rows = tuple[tuple[str, int | None, str | None], ...]
"""The rows of a message: row kind, ``id`` and ``v``."""


@dataclass(frozen=True)
class Refused:
    """The error of a malformed message.

    Attributes:
        text: A part of its sentence.
        has_columns: Whether the message still tells columns, since it has the new row.
        upsert: For an update that lacks its old row or values, its new row for tables with a key; None otherwise.
        kept: The columns whose values the new row lacks.
    """

    text: str
    has_columns: bool = False
    upsert: Rows | None = None
    kept: tuple[str, ...] = ()


class Truncation:
    """The deletion of all rows: pipelines do it, a read of rows refuses it, and inference learns no columns."""


@dataclass(frozen=True)
class ChangeMessage:
    """A message.

    Attributes:
        name: A name for it.
        format: The name of its format.
        payload: Its bytes.
        result: Its result.
        has_schema: Whether it holds its schema beside the payload.
    """

    name: str
    format: str
    payload: bytes | None
    result: Rows | SkipReason | Refused | Truncation
    has_schema: bool = False


A, B = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
_NEW, _OLD = (("+I", 1, "a"),), (("-D", 1, "a"),)
_CHANGED = (("-U", 1, "a"), ("+U", 1, "b"))
_SOURCE = {"connector": "postgresql", "db": "shop", "table": "orders"}
_NO_OLD_ROW = "the database does not send the old row"
_UPSERT = (("+U", 1, "b"),)


def _without_old_row(text: str) -> Refused:
    return Refused(text, has_columns=True, upsert=_UPSERT)


def debezium(name: str, message: Any, result: Any) -> ChangeMessage:
    """Make a message of Debezium."""
    return ChangeMessage(f"debezium: {name}", "debezium-json", _encode(message), result)


def _change(op: Any, before: Any = None, after: Any = None, **more: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "source": _SOURCE, "op": op, "ts_ms": 1_700_000_000_000, **more}


def canal(name: str, type_: Any, data: Any, result: Any, **more: Any) -> ChangeMessage:
    """Make a message of Canal."""
    message = {"data": data, "old": None, "type": type_, "database": "shop", "table": "orders", "isDdl": False, **more}
    return ChangeMessage(f"canal: {name}", "canal-json", _encode(message), result)


def maxwell(name: str, type_: Any, result: Any, **more: Any) -> ChangeMessage:
    """Make a message of Maxwell."""
    message = {"database": "shop", "table": "orders", "type": type_, "ts": 1_700_000_000, **more}
    return ChangeMessage(f"maxwell: {name}", "maxwell-json", _encode(message), result)


def goldengate(name: str, op_type: Any, result: Any, **more: Any) -> ChangeMessage:
    """Make a message of GoldenGate."""
    message = {"table": TABLE, "op_type": op_type, "op_ts": "2024-01-01 00:00:00.000000", **more}
    return ChangeMessage(f"goldengate: {name}", "ogg-json", _encode(message), result)


def _encode(message: Any) -> bytes | None:
    return message if message is None or isinstance(message, bytes) else json.dumps(message).encode()


_MONGODB = {"connector": "mongodb", "db": "shop", "collection": "orders"}
_TICDC = {"connector": "TiCDC", "db": "", "table": "", "commit_ts": 3, "cluster_id": "one"}

DEBEZIUM_MESSAGES = [
    debezium("an insertion", _change("c", None, A), _NEW),
    debezium("a row of a snapshot", _change("r", None, A), _NEW),
    debezium("an update", _change("u", A, B), _CHANGED),
    debezium("a deletion", _change("d", A), _OLD),
    debezium("an insertion with an old row, which counts for nothing", _change("c", B, A), _NEW),
    debezium("a null message", None, SkipReason.TOMBSTONE),
    debezium("an empty message", b"", SkipReason.TOMBSTONE),
    debezium("JSON's null", b"null", SkipReason.TOMBSTONE),
    debezium("an update without the old row", _change("u", None, B), _without_old_row(_NO_OLD_ROW)),
    debezium("an update without rows", _change("u"), Refused(_NO_OLD_ROW)),
    debezium("a deletion without rows", _change("d"), Refused(_NO_OLD_ROW)),
    debezium("a deletion of a row without columns", _change("d", {}), Refused("field before: it has no columns")),
    debezium("an insertion without its row", _change("c"), Refused("field after: it is null")),
    debezium("an update without the new row", _change("u", A), Refused("field after: it is null")),
    debezium("a truncation", {"op": "t", "source": _SOURCE, "ts_ms": 1}, Truncation()),
    debezium("a heartbeat", {"ts_ms": 1_565_787_098_802}, SkipReason.HEARTBEAT),
    debezium("a row with ts_ms", {"id": 2, "amount": 5, "ts_ms": 1}, Refused("the message has no operation")),
    debezium(
        "a flattened row with op",
        {"id": 1, "name": "a", "op": "u", "ts_ms": 1},
        Refused("field before: it is null"),
    ),
    debezium(
        "the begin of a transaction",
        {"status": "BEGIN", "id": "571:53195829", "event_count": None, "data_collections": None, "ts_ms": 1},
        SkipReason.TRANSACTION,
    ),
    debezium(
        "the end of a transaction, without its time as in older versions",
        {
            "status": "END",
            "id": "571",
            "event_count": 2,
            "data_collections": [{"data_collection": "s1.a", "event_count": 2}],
        },
        SkipReason.TRANSACTION,
    ),
    debezium(
        "the begin of a transaction with the position of its commit",
        {"status": "BEGIN", "id": "571", "event_count": None, "data_collections": None, "ts_ms": 1, "commit_lsn": 9},
        SkipReason.TRANSACTION,
    ),
    debezium(
        "a row with status, id and ts_ms",
        {"status": "shipped", "id": 7, "ts_ms": 1},
        Refused("the message has no operation"),
    ),
    debezium(
        "a statement",
        {
            "source": _SOURCE,
            "ts_ms": 1,
            "databaseName": "shop",
            "schemaName": None,
            "ddl": "ALTER TABLE orders ADD c INT",
            "tableChanges": [],
        },
        SkipReason.STATEMENT,
    ),
    debezium(
        "a statement of an older version",
        {"source": _SOURCE, "databaseName": "shop", "ddl": "DROP TABLE orders"},
        SkipReason.STATEMENT,
    ),
    debezium(
        "a message of the database",
        {"op": "m", "source": _SOURCE, "ts_ms": 1, "message": {"prefix": "p", "content": "aGk="}},
        SkipReason.DATABASE_MESSAGE,
    ),
    debezium(
        "a watermark of TiCDC",
        {"source": _TICDC, "op": "m", "ts_ms": 1_701_326_309_000, "transaction": None},
        SkipReason.WATERMARK,
    ),
    debezium(
        "an update of TiCDC",
        _change("u", A, B, source={**_TICDC, "db": "shop", "table": "orders"}, transaction=None),
        _CHANGED,
    ),
    debezium(
        "a document of MongoDB", _change("c", None, '{"_id": 1}', source=_MONGODB), Refused("ExtractNewDocumentState")
    ),
    debezium("a deletion of MongoDB", _change("d", source=_MONGODB), Refused("ExtractNewDocumentState")),
    debezium(
        "an update with a value that the database did not send, which the old row has",
        _change("u", A, {"id": 1, "v": "__debezium_unavailable_value"}),
        (("-U", 1, "a"), ("+U", 1, "a")),
    ),
    debezium(
        "an update with a value that the database did not send, without the old row",
        _change("u", None, {"id": 1, "v": "__debezium_unavailable_value"}),
        Refused("REPLICA IDENTITY FULL", has_columns=True, upsert=(("+U", 1, None),), kept=("v",)),
    ),
    debezium(
        "a new key with a value that the database did not send",
        _change("c", None, {"id": 1, "v": "__debezium_unavailable_value"}),
        Refused("the database did not send the value", has_columns=True),
    ),
    debezium("an unknown operation", _change("x", A, A), Refused("expected one of c, r, u, d, t")),
    debezium("an operation that is no text", _change(7, A, A), Refused("expected one of c, r, u, d, t")),
    debezium("text for a row", _change("c", None, "a"), Refused("field after: expected an object")),
    debezium("broken JSON", b'{"op":', Refused("")),
    debezium("an array", b"[]", Refused("expected a JSON object")),
    debezium(
        "an array of changes", [_change("c", None, A), _change("d", A)], Refused("found an array of 2 values, each of")
    ),
    ChangeMessage(
        "debezium: a change in its schema",
        "debezium-json",
        json.dumps({"schema": None, "payload": _change("u", A, B)}).encode(),
        _CHANGED,
        has_schema=True,
    ),
    ChangeMessage(
        "debezium: a heartbeat in its schema",
        "debezium-json",
        json.dumps({"schema": None, "payload": {"ts_ms": 1}}).encode(),
        SkipReason.HEARTBEAT,
        has_schema=True,
    ),
    ChangeMessage(
        "debezium: a tombstone of Kafka Connect",
        "debezium-json",
        b'{"schema":null,"payload":null}',
        SkipReason.TOMBSTONE,
        has_schema=True,
    ),
    ChangeMessage(
        "debezium: no schema where there should be one",
        "debezium-json",
        json.dumps(_change("c", None, A)).encode(),
        Refused("schema-include to false"),
        has_schema=True,
    ),
]

CANAL_MESSAGES = [
    canal("an insertion", "INSERT", [A], _NEW),
    canal("an insertion of texts", "INSERT", [{"id": "1", "v": "a"}], _NEW),
    canal("two insertions", "INSERT", [A, {"id": 2, "v": None}], (*_NEW, ("+I", 2, None))),
    canal("an update", "UPDATE", [B], _CHANGED, old=[{"v": "a"}]),
    canal("an update that changes nothing", "UPDATE", [A], (("-U", 1, "a"), ("+U", 1, "a")), old=[{}]),
    canal("a deletion", "DELETE", [A], _OLD),
    canal("a deletion of TiCDC", "DELETE", [A], _OLD, old=None, _tidb={"commitTs": 1}),
    canal("an update of TiCDC, with all old values", "UPDATE", [B], _CHANGED, old=[A], _tidb={"commitTs": 1}),
    canal("no rows", "INSERT", [], SkipReason.NO_ROWS),
    canal("an insertion without rows", "INSERT", None, Refused("field data: expected an array")),
    canal("a deletion without rows", "DELETE", None, Refused("field data: expected an array")),
    canal("a null row", "INSERT", [None], Refused("field data[0]")),
    canal("an update without old values", "UPDATE", [B], _without_old_row("field old: ")),
    canal("fewer old rows than rows", "UPDATE", [A, B], Refused("field old: it has 1 rows, but data has 2"), old=[{}]),
    canal("a truncation", "TRUNCATE", None, Truncation(), isDdl=True, sql="TRUNCATE TABLE orders"),
    canal("a truncation without its mark", "TRUNCATE", None, Truncation()),
    canal("the creation of a table", "CREATE", None, SkipReason.STATEMENT, isDdl=True),
    *(
        canal(f"{type_} that is not marked as a statement", type_, None, SkipReason.STATEMENT)
        for type_ in ("ALTER", "ERASE", "QUERY", "RENAME", "CINDEX", "DINDEX")
    ),
    canal("a statement of an unknown type", "GRANT", None, SkipReason.STATEMENT, isDdl=True),
    canal("an identifier of a transaction", "GTID", None, SkipReason.TRANSACTION),
    canal("the commit of a distributed transaction", "XACOMMIT", None, SkipReason.TRANSACTION),
    canal("a heartbeat of MySQL", "MHEARTBEAT", None, SkipReason.HEARTBEAT),
    canal(
        "a watermark of TiCDC",
        "TIDB_WATERMARK",
        None,
        SkipReason.WATERMARK,
        database="",
        table="",
        _tidb={"watermarkTs": 1},
    ),
    canal("an unknown type", "MERGE", [A], Refused("expected one of INSERT, UPDATE, DELETE, TRUNCATE")),
    canal("no type", None, [A], Refused("the message has no operation")),
    ChangeMessage("canal: a null message", "canal-json", None, SkipReason.TOMBSTONE),
]

MAXWELL_MESSAGES = [
    maxwell("an insertion", "insert", _NEW, data=A),
    maxwell("an update", "update", _CHANGED, data=B, old={"v": "a"}),
    maxwell("a deletion", "delete", _OLD, data=A),
    maxwell("a row of a bootstrap", "bootstrap-insert", _NEW, data=A),
    maxwell("the start of a bootstrap", "bootstrap-start", SkipReason.BOOTSTRAP, data={}),
    maxwell("the end of a bootstrap", "bootstrap-complete", SkipReason.BOOTSTRAP, data={}),
    *(
        maxwell(f"a statement, {type_}", type_, SkipReason.STATEMENT, sql="...")
        for type_ in ("table-create", "table-alter", "table-drop", "database-create", "database-drop")
    ),
    maxwell("an insertion without its row", "insert", Refused("field data: it is null")),
    maxwell("a deletion without its row", "delete", Refused("field data: it is null"), data=None),
    maxwell("an update without old values", "update", _without_old_row("field old: it is null"), data=B),
    maxwell("a type that begins as one of a statement", "table-scan", Refused("expected one of insert, update")),
    ChangeMessage("maxwell: a null message", "maxwell-json", None, SkipReason.TOMBSTONE),
]

GOLDENGATE_MESSAGES = [
    goldengate("an insertion", "I", _NEW, after=A),
    goldengate("an update", "U", _CHANGED, before=A, after=B),
    goldengate("a deletion", "D", _OLD, before=A),
    goldengate("a truncation", "T", Truncation()),
    goldengate("a deletion without its row", "D", Refused("field before: it is null")),
    goldengate("a deletion of a row without columns", "D", Refused("field before: it has no columns"), before={}),
    goldengate("an update without the old row", "U", _without_old_row("GETUPDATEBEFORES"), after=B),
    goldengate("an update of a row without columns", "U", _without_old_row("GETUPDATEBEFORES"), before={}, after=B),
    goldengate("an insertion without its row", "I", Refused("field after: it is null")),
    goldengate("an unknown operation", "K", Refused("expected one of I, U, D, T"), after=A),
    ChangeMessage("goldengate: a null message", "ogg-json", None, SkipReason.TOMBSTONE),
]

CHANGE_MESSAGES = [*DEBEZIUM_MESSAGES, *CANAL_MESSAGES, *MAXWELL_MESSAGES, *GOLDENGATE_MESSAGES]
