"""A database whose tables change at random, and what a copy of its tables must hold."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from support.postgres import Postgres

Row = Mapping[str, Any]


class OriginTable(NamedTuple):
    """A table of the database.

    Attributes:
        columns: Its columns, as SQL.
        key: The columns of its primary key.
        expressions: For each column, SQL with a random value; ``{r}`` is a random number from 0.
        is_log: Whether rows are only ever inserted.
        toasted: The columns that may be large, and are stored apart from their row then, as they are.
        has_placeholders: Whether Debezium writes placeholders for all of them.
    """

    columns: str
    key: tuple[str, ...]
    expressions: tuple[str, ...]
    is_log: bool = False
    toasted: tuple[str, ...] = ()
    has_placeholders: bool = True

    @property
    def needs_old_rows(self) -> bool:
        """True if updates are complete only where the database logs the old rows."""
        return not self.key or not self.has_placeholders


class AddedType(NamedTuple):
    """The type of a column that a table gets.

    Attributes:
        definition: Its type and its first value, as SQL; ``{n}`` is a random number.
        wider: A wider type that all sinks can make of it; empty for none.
        using: The values after that, as SQL; ``{c}`` is the column.
    """

    definition: str
    wider: str = ""
    using: str = ""


_MOMENT_TEXT = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?")
_KEY_SPACE = 40
_BITS = 8
_TEXT = "(ARRAY['', 'a', 'ä→\U0001f600', E'line\\nbreak \"quoted\"', NULL])[1 + {r} % 5]"
_MOMENT = "timestamp '2024-02-29 12:34:56.789012' + {r} * interval '1 day 1 second 1 microsecond'"
_ADDED_TYPES = (
    AddedType("INT DEFAULT {n}", "BIGINT", "{c} * 3000000000"),
    AddedType("REAL DEFAULT {n}.25", "DOUBLE PRECISION", "{c} / 3::double precision"),
    AddedType("NUMERIC(8, 2) DEFAULT {n}.25", "NUMERIC(16, 2)", "{c} * 1000000"),
    AddedType("VARCHAR(8) DEFAULT 'v{n}'", "TEXT", "repeat({c}, 9)"),
    AddedType("DATE DEFAULT date '1970-01-01' - {n}"),
    AddedType("BOOLEAN DEFAULT true"),
)
TABLES: dict[str, OriginTable] = {
    "orders": OriginTable(
        "id BIGINT, amount NUMERIC(12, 2), placed TIMESTAMP, note TEXT, PRIMARY KEY (id)",
        ("id",),
        ("{key}", "({r} - 500) / 7.0", _MOMENT, _TEXT),
    ),
    "pairs": OriginTable(
        "a INT, b TEXT, v DOUBLE PRECISION, PRIMARY KEY (a, b)",
        ("a", "b"),
        ("{key} % 7", "'b' || {key}", "{r} / 3.0"),
    ),
    "documents": OriginTable(
        "id UUID PRIMARY KEY, content JSONB, kind mood",
        ("id",),
        ("md5({key}::text)::uuid", "jsonb_build_object('n', {r})", "(ARRAY['sad', 'ok', NULL])[1 + {r} % 3]::mood"),
    ),
    "days": OriginTable(
        "day DATE PRIMARY KEY, opens TIME, closes TIME(3), seen TIMESTAMPTZ",
        ("day",),
        (
            "date '1969-12-20' + {key}",
            "time '23:59:59.999999' - {r} * interval '1 minute'",
            "time '00:00:00.001' + {r} * interval '1 second'",
            _MOMENT,
        ),
    ),
    "blobs": OriginTable(
        "id SMALLINT PRIMARY KEY, content BYTEA, large TEXT",
        ("id",),
        ("{key}", "decode(md5({r}::text), 'hex')", "repeat(md5({r}::text), 200)"),
        toasted=("large",),
    ),
    "measures": OriginTable(
        "n NUMERIC(20, 0) PRIMARY KEY, x REAL, y DOUBLE PRECISION",
        ("n",),
        (
            "{key} + 10000000000000000000",
            "(ARRAY['NaN', '-1.5', '3e-5'])[1 + {r} % 3]::real",
            "(ARRAY['Infinity', '-Infinity', '0.1'])[1 + {r} % 3]::double precision",
        ),
    ),
    "flags": OriginTable(
        "code VARCHAR(10) PRIMARY KEY, is_set BOOLEAN, bits BIT(8)",
        ("code",),
        ("'c' || {key}", "({r} % 2)::boolean", "({r} % 256)::bit(8)"),
    ),
    "lists": OriginTable(
        "id INT PRIMARY KEY, numbers INT[], words TEXT[]",
        ("id",),
        ("{key}", "ARRAY[{r}, NULL, {key}]", "ARRAY['x', " + _TEXT + "]"),
    ),
    "visits": OriginTable("v INT, w TEXT", (), ("{key}", _TEXT)),
    "events": OriginTable("v INT, w TEXT", (), ("{r}", _TEXT), is_log=True),
    "places": OriginTable(
        "c CHAR(5) PRIMARY KEY, size NUMERIC, at TIMESTAMP(3)",
        ("c",),
        ("'p' || {key}", "{r} / 16.0 * 10 ^ ({r} % 20)", _MOMENT),
    ),
}


class Origin:
    """Change the tables at random; the same seed makes the same changes.

    Args:
        postgres: The database.
        seed: The seed.
        tables: The tables.
        logs_old_rows: Whether all tables log their old rows; otherwise only those do that need it. An update of others
            has no old row, and their deletion only its key, as by default.
    """

    def __init__(
        self,
        postgres: Postgres,
        seed: int,
        tables: Mapping[str, OriginTable] = TABLES,
        *,
        logs_old_rows: bool = True,
    ) -> None:
        self._postgres = postgres
        self._random = random.Random(seed)
        self._tables = tables
        self._logs_old_rows = logs_old_rows
        self._added = dict.fromkeys(tables, 0)
        self._columns = {name: [each.split()[0] for each in _split(table.columns)] for name, table in tables.items()}
        # The types that columns can still become wider from
        self._types: dict[tuple[str, str], AddedType] = {}

    def create(self) -> None:
        """Create the tables, with rows."""
        statements = ["CREATE TYPE mood AS ENUM ('sad', 'ok');"]
        for name, table in self._tables.items():
            statements.append(f"CREATE TABLE {name} ({table.columns});")
            statements += [f"ALTER TABLE {name} ALTER {column} SET STORAGE EXTERNAL;" for column in table.toasted]
            if self._logs_old_rows or table.needs_old_rows:
                statements.append(f"ALTER TABLE {name} REPLICA IDENTITY FULL;")
            statements += [self._insert(name) for _ in range(5)]
        statements.append("CREATE TABLE marks (id INT PRIMARY KEY);")
        self._postgres.execute("\n".join(statements))

    def change_rows(self, changes: int) -> None:
        """Insert, update and delete rows, and change keys."""
        names = list(self._tables)
        kinds = [self._insert, self._insert, self._update, self._update, self._delete, self._change_key]
        statements = [
            (self._insert if self._tables[name].is_log else self._random.choice(kinds))(name)
            for name in self._random.choices(names, k=changes)
        ]
        self._postgres.execute("\n".join(statements))

    def change_columns(self, name: str | None = None) -> str:
        """Change the columns of one table, and write its rows again; return the statement."""
        name = name or self._random.choice([each for each, table in self._tables.items() if table.key])
        columns = self._columns[name]
        added = [each for each in columns if each.startswith("added_")]
        narrow = [each for each in added if self._types[name, each].wider]
        kind = self._random.choice(["add", "drop", "rename", "widen"])
        if kind == "drop" and added:
            dropped = self._random.choice(added)
            columns.remove(dropped)
            statement = f"ALTER TABLE {name} DROP COLUMN {dropped}"
        elif kind == "rename" and added:
            old, new = self._random.choice(added), self._new_column(name)
            columns[columns.index(old)] = new
            self._types[name, new] = self._types[name, old]
            statement = f"ALTER TABLE {name} RENAME COLUMN {old} TO {new}"
        elif kind == "widen" and narrow:
            widened = self._random.choice(narrow)
            _, type_, using = self._types[name, widened]
            self._types[name, widened] = AddedType(type_)
            statement = f"ALTER TABLE {name} ALTER {widened} TYPE {type_} USING {using.format(c=widened)}"
        else:
            new = self._new_column(name)
            columns.append(new)
            self._types[name, new] = self._random.choice(_ADDED_TYPES)
            definition = self._types[name, new].definition.format(n=self._random.randrange(100))
            statement = f"ALTER TABLE {name} ADD COLUMN {new} {definition}"
        # The database does not say what its statement made of the rows
        touched = columns[-1]
        self._postgres.execute(f"{statement}; UPDATE {name} SET {touched} = {touched};")
        return statement

    def truncate(self, name: str) -> None:
        """Delete all rows of a table by one statement, and insert others."""
        self._postgres.execute(f"TRUNCATE {name}; {self._insert(name)} {self._insert(name)}")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table, as JSON has them."""
        return self._postgres.rows(f"SELECT * FROM {name}")

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the names of a table's columns."""
        return tuple(self._columns[name])

    def position(self) -> str:
        """Return the end of the database's log, and write a row behind it."""
        position = self._postgres.execute("SELECT pg_current_wal_lsn()").strip()
        self._postgres.execute("INSERT INTO marks SELECT count(*) FROM marks")
        return position

    def is_sent(self, slot: str, position: str) -> bool:
        """Return whether a reader of the log has confirmed all changes up to a position."""
        query = f"SELECT confirmed_flush_lsn >= '{position}' FROM pg_replication_slots WHERE slot_name = '{slot}'"
        return self._postgres.execute(query).strip() == "t"

    def _insert(self, name: str) -> str:
        conflict = " ON CONFLICT DO NOTHING" if self._tables[name].key else ""
        base = [each.split()[0] for each in _split(self._tables[name].columns)]
        return f"INSERT INTO {name} ({', '.join(base)}) VALUES ({', '.join(self._values(name))}){conflict};"

    def _update(self, name: str) -> str:
        table = self._tables[name]
        base = [each.split()[0] for each in _split(table.columns)]
        values = dict(zip(base, self._values(name), strict=True))
        column = self._random.choice([each for each in base if each not in table.key])
        return f"UPDATE {name} SET {column} = {values[column]} WHERE {self._one_row(name)};"

    def _change_key(self, name: str) -> str:
        table = self._tables[name]
        if not table.key:
            return self._update(name)
        base = [each.split()[0] for each in _split(table.columns)]
        values = dict(zip(base, self._values(name, self._random.randrange(1_000, 9_000)), strict=True))
        # Debezium writes a deletion and an insertion, with placeholders of large values that stay: no message has these
        sets = ", ".join(f"{column} = {values[column]}" for column in (*table.key, *table.toasted))
        taken = " AND ".join(f"{column} = {values[column]}" for column in table.key)
        return (
            f"UPDATE {name} SET {sets} WHERE {self._one_row(name)} AND NOT EXISTS (SELECT FROM {name} WHERE {taken});"
        )

    def _delete(self, name: str) -> str:
        return f"DELETE FROM {name} WHERE {self._one_row(name)};"

    def _one_row(self, name: str) -> str:
        skipped = self._random.randrange(20)
        order = ", ".join(self._tables[name].key) or "v, w"
        count = f"GREATEST((SELECT count(*) FROM {name}), 1)"
        return f"ctid = (SELECT ctid FROM {name} ORDER BY {order} OFFSET {skipped} % {count} LIMIT 1)"

    def _values(self, name: str, key: int | None = None) -> list[str]:
        given = self._random.randrange(_KEY_SPACE) if key is None else key
        number = self._random.randrange(1_000)
        return [each.format(key=given, r=number) for each in self._tables[name].expressions]

    def _new_column(self, name: str) -> str:
        self._added[name] += 1
        return f"added_{self._added[name]}"


def _split(columns: str) -> Iterable[str]:
    depth = 0
    part = ""
    for character in columns:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    if not part.strip().startswith("PRIMARY KEY ("):
        yield part.strip()


def as_origin(value: Any, origin: Any) -> Any:
    """Return a value of a copy as PostgreSQL's JSON has it, by what it has at the same place."""
    if isinstance(value, list):
        others = origin if isinstance(origin, list) and len(origin) == len(value) else value
        return [as_origin(each, other) for each, other in zip(value, others, strict=True)]
    if isinstance(origin, bool) and value in (0, 1):
        # SQLite has no booleans
        return bool(value)
    if isinstance(value, bool | dict) or value is None:
        return value
    if isinstance(value, bytes | bytearray):
        return _bytes(bytes(value), origin)
    if isinstance(value, int | float | Decimal):
        return _number(value, origin)
    return _text(value, origin) if isinstance(value, str) else _moment(value, origin)


def plain(value: Any) -> Any:
    """Return a value such that equal numbers are written alike."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return Decimal(str(value)).normalize() if is_number else value


def _bytes(value: bytes, origin: Any) -> str:
    # Debezium writes the bits of a BIT from the lowest byte on
    is_bits = isinstance(origin, str) and len(origin) == _BITS and set(origin) <= {"0", "1"}
    return f"{value[0]:08b}" if is_bits and value else f"\\x{value.hex()}"


def _number(value: Any, origin: Any) -> Any:
    if isinstance(value, float) and isinstance(origin, str):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), value)
    if isinstance(value, float) and isinstance(origin, Decimal | int):
        # A REAL has fewer digits
        return origin if value in (float(origin), float(np.float32(origin))) else value
    return value


def _text(value: str, origin: Any) -> Any:
    if isinstance(origin, Decimal | int):
        return Decimal(value)
    if isinstance(origin, dict | list):
        return as_origin(json.loads(value, parse_float=Decimal), origin)
    if value.startswith("\\x"):
        return _bytes(bytes.fromhex(value[2:]), origin)
    if isinstance(origin, str) and _CLOCK.fullmatch(origin):
        return origin if value == (origin if "." in origin else f"{origin}.").ljust(len(value), "0") else value
    if isinstance(origin, str) and origin.startswith("\\x"):
        # Arrays of bytes are JSON
        return origin if base64.b64decode(value) == bytes.fromhex(origin[2:]) else value
    return origin if _is_same_moment(value, origin) else value


def _is_same_moment(value: str, origin: Any) -> bool:
    if not isinstance(origin, str) or not (_MOMENT_TEXT.match(origin) and _MOMENT_TEXT.match(value)):
        return False
    # Without a zone it is in UTC
    moments = [datetime.fromisoformat(text) for text in (value, origin)]
    return len({moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments}) == 1


def _moment(value: Any, origin: Any) -> Any:
    if not isinstance(origin, str):
        return value.isoformat()
    if isinstance(value, datetime) and origin.endswith("+00:00"):
        # Without a zone it is in that of this machine
        return origin if datetime.fromisoformat(origin) == value.astimezone(UTC) else value.isoformat()
    return origin if type(value).fromisoformat(origin) == value else value.isoformat()
