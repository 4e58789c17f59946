"""The statements of a script, as the parser returns them.

Queries and expressions are kept as text: Spark parses them. Each part that a later step may reject has the position at
which it begins in the script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from millrace_catalog.types import DataType
from millrace_sql.script_texts import NOWHERE, Identifier, ScriptPosition, SqlText


@dataclass(frozen=True)
class PhysicalColumn:
    """A column of the table's data; NOT NULL is part of its type."""

    name: str
    type: DataType
    comment: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class MetadataColumn:
    """``name type METADATA [FROM 'key'] [VIRTUAL]``; without FROM the key is the column's name."""

    name: str
    type: DataType
    key: str | None = None
    is_virtual: bool = False
    comment: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ComputedColumn:
    """``name AS expression``."""

    name: str
    expression: SqlText
    comment: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


Column = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True)
class PrimaryKey:
    """``[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED``."""

    columns: tuple[str, ...]
    constraint: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Watermark:
    """``WATERMARK FOR column AS expression``."""

    column: str
    expression: SqlText
    position: ScriptPosition = field(default=NOWHERE, compare=False)


LikeFeature = Literal["ALL", "CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"]


@dataclass(frozen=True)
class Like:
    """``LIKE table [(INCLUDING | EXCLUDING | OVERWRITING feature ...)]``."""

    table: Identifier
    features: tuple[tuple[Literal["INCLUDING", "EXCLUDING", "OVERWRITING"], LikeFeature], ...] = ()


@dataclass(frozen=True)
class AddedColumn:
    """``ADD COLUMN name AS expression [FIRST | AFTER column]``.

    Attributes:
        column: The column; of AS TABLE a computed one.
        after: The column before it; an empty text for FIRST; None for the end, or for the place that it has.
    """

    column: Column
    after: str | None = None


@dataclass(frozen=True)
class AsTable:
    """``AS TABLE table [ADD COLUMN ...]``: a copy of a table that follows its schema."""

    table: Identifier
    added_columns: tuple[AddedColumn, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CreateTable:
    """``CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] ...``.

    Attributes:
        columns: Its columns, in order; empty when it declares none.
        options: The WITH clause.
        like: LIKE.
        query: AS SELECT.
        as_table: AS TABLE.
    """

    table: Identifier
    columns: tuple[Column, ...] = ()
    primary_key: PrimaryKey | None = None
    watermark: Watermark | None = None
    comment: str | None = None
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    like: Like | None = None
    query: SqlText | None = None
    as_table: AsTable | None = None
    is_temporary: bool = False
    or_replace: bool = False
    if_not_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class CreateView:
    """``CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT 'text'] AS query``."""

    view: Identifier
    query: SqlText
    columns: tuple[str, ...] = ()
    comment: str | None = None
    is_temporary: bool = False
    or_replace: bool = False
    if_not_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class CreateCatalog:
    """``CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'text'] WITH (...)``."""

    name: str
    options: Mapping[str, str]
    comment: str | None = None
    if_not_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class CreateDatabase:
    """``CREATE DATABASE [IF NOT EXISTS] name [COMMENT 'text']``."""

    database: Identifier
    comment: str | None = None
    if_not_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class CreateFunction:
    """``CREATE [TEMPORARY] [SYSTEM] FUNCTION [IF NOT EXISTS] name AS 'module.function' LANGUAGE PYTHON``.

    Attributes:
        path: The text that names its code.
        language: The language, in upper case; empty where none is named.
        is_system: Whether it has no catalog and database.
    """

    function: Identifier
    path: str
    language: str = ""
    is_temporary: bool = False
    is_system: bool = False
    if_not_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Use:
    """``USE CATALOG name`` and ``USE [catalog.]database``."""

    kind: Literal["CATALOG", "DATABASE"]
    name: Identifier
    position: ScriptPosition = field(default=NOWHERE, compare=False)


ShowKind = Literal[
    "CATALOGS",
    "COLUMNS",
    "CREATE TABLE",
    "CREATE VIEW",
    "CURRENT CATALOG",
    "CURRENT DATABASE",
    "DATABASES",
    "FUNCTIONS",
    "JOBS",
    "TABLES",
    "USER FUNCTIONS",
    "VIEWS",
]


@dataclass(frozen=True)
class Show:
    """``SHOW TABLES [FROM database] [[NOT] LIKE 'pattern']`` and the like; also ``SHOW CREATE TABLE name``.

    Attributes:
        subject: The table of COLUMNS and CREATE, the database of FROM or IN.
        pattern: The pattern of LIKE, in which ``%`` stands for any text and ``_`` for one character.
        is_negated: Whether it is NOT LIKE.
    """

    kind: ShowKind
    subject: Identifier | None = None
    pattern: str | None = None
    is_negated: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Describe:
    """``DESCRIBE [EXTENDED] table``, ``DESC table`` and ``DESCRIBE CATALOG name``."""

    kind: Literal["CATALOG", "TABLE"]
    name: Identifier
    is_extended: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Drop:
    """``DROP [TEMPORARY] TABLE | VIEW | CATALOG | DATABASE [IF EXISTS] name [RESTRICT | CASCADE]``.

    Also ``DROP [TEMPORARY] [SYSTEM] FUNCTION [IF EXISTS] name``.
    """

    kind: Literal["CATALOG", "DATABASE", "FUNCTION", "TABLE", "VIEW"]
    name: Identifier
    is_temporary: bool = False
    is_system: bool = False
    if_exists: bool = False
    is_cascade: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ColumnChanges:
    """``ADD``, ``MODIFY``, ``DROP`` and ``RENAME`` of a table's columns, and of its primary key and watermark.

    Attributes:
        columns: The columns of ADD and MODIFY.
        names: The columns of DROP; of RENAME the old name and the new one.
    """

    kind: Literal["ADD", "MODIFY", "DROP", "RENAME"]
    columns: tuple[AddedColumn, ...] = ()
    names: tuple[str, ...] = ()
    primary_key: PrimaryKey | None = None
    watermark: Watermark | None = None
    drops_primary_key: bool = False
    drops_watermark: bool = False


@dataclass(frozen=True)
class AlterTable:
    """``ALTER TABLE [IF EXISTS] table``: exactly one of SET, RESET, RENAME TO, and changes of columns."""

    table: Identifier
    set_options: Mapping[str, str] = field(default_factory=dict)
    reset_options: tuple[str, ...] = ()
    new_name: Identifier | None = None
    column_changes: ColumnChanges | None = None
    if_exists: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Query:
    """A query: SELECT, WITH, VALUES, or one in parentheses. Hints are part of its text."""

    query: SqlText
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Insert:
    """``INSERT INTO | OVERWRITE table [/*+ OPTIONS(...) */] [PARTITION (...)] [(columns)] query``.

    Attributes:
        columns: The columns that the query fills; empty for all.
        partition: Fixed values of partition columns, as they are written.
        hint_options: The options of the table's hint.
    """

    table: Identifier
    query: SqlText
    columns: tuple[str, ...] = ()
    partition: Mapping[str, str] = field(default_factory=dict)
    hint_options: Mapping[str, str] = field(default_factory=dict)
    is_overwrite: bool = False
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ExecuteStatementSet:
    """``EXECUTE STATEMENT SET BEGIN insert; ... END``, also ``BEGIN STATEMENT SET; ... END``."""

    inserts: tuple[Insert, ...]
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Explain:
    """``EXPLAIN [details] statement``, of a query, an INSERT or a statement set."""

    statement: Query | Insert | ExecuteStatementSet
    details: tuple[str, ...] = ()
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class SetOption:
    """``SET 'key' = 'value'``; SET alone lists what is set, with key and value of None."""

    key: str | None = None
    value: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ResetOption:
    """``RESET 'key'``; RESET alone resets all."""

    key: str | None = None
    position: ScriptPosition = field(default=NOWHERE, compare=False)


Statement = (
    CreateTable
    | CreateView
    | CreateCatalog
    | CreateDatabase
    | CreateFunction
    | Use
    | Show
    | Describe
    | Drop
    | AlterTable
    | Query
    | Insert
    | ExecuteStatementSet
    | Explain
    | SetOption
    | ResetOption
)
