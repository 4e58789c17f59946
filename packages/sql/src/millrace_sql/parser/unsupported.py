"""Refuse by its name whatever the reference's SQL has and this one has not, and say what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace_sql.parser.scanner import ScannedToken

if TYPE_CHECKING:
    from lark import Token

_MODIFIERS = frozenset({"OR", "REPLACE", "TEMPORARY", "SYSTEM", "IF", "_NOT", "EXISTS"})
_NAMES = frozenset({"WORD", "QUOTED", "TEXT", "SIZE", "QUERY", "EXPRESSION", "SETTING_KEY", "SETTING_VALUE"})

_NOT_ALTERED = "ALTER TABLE has SET, RESET, RENAME, ADD, MODIFY and DROP; or create the table again with OR REPLACE"
_FUNCTIONS = "DROP FUNCTION, and CREATE FUNCTION ... AS 'module.function' LANGUAGE PYTHON again"
_MODULES = "this SQL has no modules; functions are Spark's"
_JARS = "give jars when the Spark session starts, such as millrace sql --conf spark.jars=driver.jar"
_ROWS = "rows of a topic cannot be changed in place; INSERT INTO a table of upsert-kafka"
_CLIENT = "it is a command of the interactive shell, not a statement"

_ADVICE = {
    "CREATE FUNCTION ... USING": "name a function in Python, which needs no jar: AS 'module.function' LANGUAGE PYTHON",
    "CREATE MATERIALIZED TABLE": "create a table, and fill it with INSERT INTO",
    "CREATE MODEL": "apply models in a query by a function of Spark",
    "CREATE CONNECTION": "write the connection's options into WITH of each table",
    "CREATE TABLE ... DISTRIBUTED": "a topic has its partitions; choose how rows are divided with 'sink.partitioner'",
    "CREATE TABLE ... UNIQUE": "only PRIMARY KEY ... NOT ENFORCED is supported",
    "CREATE DATABASE ... WITH": "a database has no options",
    "DROP MATERIALIZED TABLE": "DROP TABLE",
    "DROP MODEL": "this SQL has no models",
    "ALTER VIEW": "create the view again with CREATE OR REPLACE VIEW",
    "ALTER DATABASE": "a database has no options",
    "ALTER CATALOG": "drop the catalog, and create it again",
    "ALTER FUNCTION": _FUNCTIONS,
    "ALTER TABLE ... PARTITION": _NOT_ALTERED,
    "SHOW JARS": _JARS,
    "SHOW FULL MODULES": _MODULES,
    "SHOW MODULES": _MODULES,
    "SHOW MODELS": "this SQL has no models",
    "SHOW PARTITIONS": "a topic's partitions are in the metadata column 'partition'",
    "SHOW PROCEDURES": "this SQL has no procedures",
    "SHOW MATERIALIZED TABLES": "SHOW TABLES",
    "SHOW CREATE CATALOG": "SHOW CREATE TABLE and SHOW CREATE VIEW are supported",
    "DESCRIBE FUNCTION": "SHOW FUNCTIONS lists them",
    "DESCRIBE JOB": "SHOW JOBS lists them",
    "DESC FUNCTION": "SHOW FUNCTIONS lists them",
    "DESC JOB": "SHOW JOBS lists them",
    "LOAD MODULE": _MODULES,
    "UNLOAD MODULE": _MODULES,
    "ADD JAR": _JARS,
    "REMOVE JAR": _JARS,
    "ANALYZE TABLE": "Spark keeps no statistics of streams",
    "CALL": "this SQL has no procedures",
    "COMPILE PLAN": "a query's state is kept in its checkpoint",
    "EXPLAIN CREATE TABLE": "explain its query",
    "EXECUTE PLAN": "a query's state is kept in its checkpoint",
    "DELETE FROM": _ROWS,
    "UPDATE": _ROWS,
    "MERGE INTO": _ROWS,
    "TRUNCATE TABLE": "delete the topic's records with Kafka's own tools",
    "STOP JOB": "it is a command of the interactive shell; in Python, get_job_client().cancel() ends a job",
    "QUIT": _CLIENT,
    "EXIT": _CLIENT,
    "CLEAR": _CLIENT,
    "HELP": _CLIENT,
    "SOURCE": _CLIENT,
}
"""Statements and clauses by their first words; dots stand for what is between the words."""

_TYPES = {
    "BLOB": "BYTES",
    "BYTE": "TINYINT",
    "CLOB": "STRING",
    "DATETIME": "TIMESTAMP(3)",
    "INTERVAL": None,
    "JSON": "STRING or VARIANT",
    "LIST": "ARRAY<type>",
    "LONG": "BIGINT",
    "MULTISET": "MAP<type, INT>",
    "NUMBER": "DECIMAL(digits, scale)",
    "RAW": "BYTES",
    "REAL": "FLOAT",
    "SERIAL": "BIGINT",
    "SHORT": "SMALLINT",
    "TEXT": "STRING",
}
"""Types of other dialects, and those of the reference's that are not supported, with what to write instead."""


def advice_on_type(name: str) -> str | None:
    """Return the message for the name of a type that this SQL does not have; None where it is no type's name."""
    if name.upper() not in _TYPES:
        return None
    instead = _TYPES[name.upper()]
    return f"a column cannot be of type {name.upper()}" + (f"; did you mean {instead}?" if instead else "")


def advice_on(tokens: Sequence[Token], unexpected: ScannedToken) -> str | None:
    """Return the message for a statement or clause of the reference's SQL that is not supported.

    Args:
        tokens: The tokens of the statement so far.
        unexpected: The word that the grammar does not take.

    Returns:
        The message; None for any other word.
    """
    if unexpected.kind != "word":
        return None
    words = [token.upper() for token in tokens if token.type not in _NAMES | _MODIFIERS and token[:1].isalpha()]
    follows_name = any(token.type in _NAMES for token in tokens)
    what = " ".join([*words[:2], *(["..."] if follows_name else []), unexpected.text.upper()])
    name = next((name for name in _ADVICE if f"{name} ".startswith(f"{what} ")), None)
    return None if name is None else f"{name} is not supported: {_ADVICE[name]}"
