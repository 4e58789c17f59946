"""Changes of many tables as Debezium writes them in JSON: the records of `bench.data`, inserted, updated and deleted.

Of ten changes of a table five are updates, four insertions and one a deletion; a change has 480 bytes on average.
"""

from __future__ import annotations

from bench.data import json_record

TABLES = 100
DATABASE = "inventory"
_ROUND = 10
_KEPT = 3


def change_of_tables(index: int, tables: int = TABLES) -> bytes:
    """Return the change of an index: tables take turns, and the rows of each have the ids 0, 1 and so on.

    A round of ten changes of a table inserts four rows, updates three of them and two of the round before, and deletes
    one, so that `rows_after` are left.
    """
    table, number = index % tables, index // tables
    turn, step = divmod(number, _ROUND)
    first = 4 * turn
    if step < 4:
        return change(index, None, _row(first + step, 0), f"table_{table}")
    if step < 7:
        id_ = first + step - 3
        return change(index, _row(id_, 0), _row(id_, 1), f"table_{table}")
    if step < 9:
        # There is no round before the first
        id_, version = (first + step - 10, 2 if turn == 1 else 1) if turn else (step - 6, 1)
        return change(index, _row(id_, version), _row(id_, version + 1), f"table_{table}")
    return change(index, _row(first, 0), None, f"table_{table}")


def rows_after(changes: int, tables: int = TABLES) -> int:
    """Return how many rows whole rounds of changes leave in all tables.

    Args:
        changes: The number of changes of all tables, a multiple of ten for each.
        tables: The number of tables.
    """
    return changes // (_ROUND * tables) * tables * _KEPT


def change(index: int, before: bytes | None, after: bytes | None, table: str) -> bytes:
    """Return a change as Debezium writes it.

    Args:
        index: Its number, for what tells it from others.
        before: The old row, as JSON; None for an insertion.
        after: The new row, as JSON; None for a deletion.
        table: The name of its table.
    """
    old, new = ("null" if row is None else row.decode() for row in (before, after))
    operation = "c" if before is None else "d" if after is None else "u"
    message = (
        f'{{"before": {old}, "after": {new}, "source": {{"version": "2.7.3.Final", "connector": "mysql", '
        f'"name": "shop", "ts_ms": {1_772_323_200_000 + index}, "snapshot": "false", "db": "{DATABASE}", '
        f'"sequence": null, "table": "{table}", "server_id": 223344, "gtid": null, "file": "mysql-bin.000003", '
        f'"pos": {154 + index}, "row": 0, "thread": 7, "query": null}}, "op": "{operation}", '
        f'"ts_ms": {1_772_323_200_001 + index}, "transaction": null}}'
    )
    return message.replace(": ", ":").replace(", ", ",").encode()


def with_new_columns(message: bytes, count: int) -> bytes:
    """Return a change whose new row, if there is one, has so many columns more."""
    columns = b"".join(b',"new_%d":%d' % (number, number) for number in range(count))
    row, end, rest = message.partition(b'},"source":')
    return row + columns + end + rest if end else message


def _row(id_: int, version: int) -> bytes:
    row = json_record(id_)
    return row.replace(b'"qty": ', b'"qty": %d' % version) if version else row
