"""Refuse by its name whatever the reference's SQL has and this one has not, and say what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace_sql.parser.scanner import ScannedToken

if TYPE_CHECKING:
    from lark import Token

_MODIFIERS = frozenset({"OR", "REPLACE", "TEMPORARY", "SYSTEM", "IF", "_NOT", "EXISTS"})
_NAMES = frozenset({"WORD", "QUOTED", "TEXT", "SIZE", "QUERY", "EXPRESSION", "SETTING_KEY", "SETTING_VALUE"})

_OPTIONS_ONLY = "ALTER TABLE has SET, RESET and RENAME TO; create the table again with CREATE OR REPLACE TABLE"
_FUNCTIONS = "register functions with spark.udf.register, and call them in queries"
_MODULES = "this SQL has no modules; functions are Spark's"
_JARS = "add jars and Python packages to the Spark session"
_ROWS = "rows of a topic cannot be changed in place; INSERT INTO a table of upsert-kafka"
_CLIENT = "it is a command of the interactive shell, not a statement"

_ADVICE = {
    "CREATE FUNCTION": _FUNCTIONS,
    "CREATE SYSTEM": _FUNCTIONS,
    "CREATE MATERIALIZED": "create a table, and fill it with INSERT INTO",
    "CREATE MODEL": "apply models in a query by a function of Spark",
    "CREATE CONNECTION": "write the connection's options into WITH of each table",
    "CREATE TABLE ... DISTRIBUTED": "a topic has its partitions; choose how rows are divided with 'sink.partitioner'",
    "CREATE TABLE ... UNIQUE": "only PRIMARY KEY ... NOT ENFORCED is supported",
    "CREATE DATABASE ... WITH": "a database has no options",
    "DROP FUNCTION": _FUNCTIONS,
    "DROP SYSTEM": _FUNCTIONS,
    "DROP MATERIALIZED": "DROP TABLE",
    "DROP MODEL": "this SQL has no models",
    "ALTER VIEW": "create the view again with CREATE OR REPLACE VIEW",
    "ALTER DATABASE": "a database has no options",
    "ALTER CATALOG": "drop the catalog, and create it again",
    "ALTER FUNCTION": _FUNCTIONS,
    "ALTER TABLE ... ADD": _OPTIONS_ONLY,
    "ALTER TABLE ... MODIFY": _OPTIONS_ONLY,
    "ALTER TABLE ... DROP": _OPTIONS_ONLY,
    "ALTER TABLE ... PARTITION": _OPTIONS_ONLY,
    "SHOW JARS": _JARS,
    "SHOW FULL": _MODULES,
    "SHOW MODULES": _MODULES,
    "SHOW MODELS": "this SQL has no models",
    "SHOW PARTITIONS": "a topic's partitions are in the metadata column 'partition'",
    "SHOW PROCEDURES": "this SQL has no procedures",
    "SHOW USER": "SHOW FUNCTIONS lists those of Spark and of the session",
    "SHOW MATERIALIZED": "SHOW TABLES",
    "SHOW CREATE CATALOG": "SHOW CREATE TABLE and SHOW CREATE VIEW are supported",
    "DESCRIBE FUNCTION": "SHOW FUNCTIONS lists them",
    "DESCRIBE JOB": "SHOW JOBS lists them",
    "DESC FUNCTION": "SHOW FUNCTIONS lists them",
    "DESC JOB": "SHOW JOBS lists them",
    "USE MODULES": _MODULES,
    "LOAD": _MODULES,
    "UNLOAD": _MODULES,
    "ADD": _JARS,
    "REMOVE": _JARS,
    "ANALYZE": "Spark keeps no statistics of streams",
    "CALL": "this SQL has no procedures",
    "COMPILE": "a query's state is kept in its checkpoint",
    "EXECUTE PLAN": "a query's state is kept in its checkpoint",
    "DELETE": _ROWS,
    "UPDATE": _ROWS,
    "MERGE": _ROWS,
    "TRUNCATE": "delete the topic's records with Kafka's own tools",
    "STOP": "stop a query with Ctrl-C in the shell, or with its stop() in Python",
    "QUIT": _CLIENT,
    "EXIT": _CLIENT,
    "CLEAR": _CLIENT,
    "HELP": _CLIENT,
    "SOURCE": _CLIENT,
}


def advice_on(tokens: Sequence[Token], found: ScannedToken) -> str | None:
    """Return the message for a statement or clause of the reference's SQL that is not supported.

    Args:
        tokens: The tokens of the statement so far.
        found: The word that the grammar does not take.

    Returns:
        The message; None for any other word.
    """
    if found.kind != "word":
        return None
    words = [token.upper() for token in tokens if token.type not in _NAMES | _MODIFIERS and token[:1].isalpha()]
    if words[:3] == ["ALTER", "TABLE", "RENAME"]:
        return f"columns cannot be renamed: {_OPTIONS_ONLY}"
    follows_name = any(token.type in _NAMES for token in tokens)
    what = " ".join([*words[:2], *(["..."] if follows_name else []), found.text.upper()])
    advice = _ADVICE.get(what)
    return None if advice is None else f"{what} is not supported: {advice}"
