"""A table as text: its description, and its CREATE TABLE statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from millrace.contracts import CatalogColumn
from millrace.options.secrets import is_secret
from millrace_catalog.tables.table_schema import ROW_KIND, TableSchema
from millrace_catalog.types.identifiers import backquote, quote_name


def describe_table(name: str, columns: Sequence[CatalogColumn], schema: TableSchema, notes: Sequence[str]) -> str:
    """Describe a table in lines: kind, name, primary key, and the columns as a text table.

    Args:
        name: Name of the table.
        columns: Columns of the table.
        schema: Schema of the table.
        notes: Lines to append.
    """
    kind = "upsert table" if schema.is_upsert else "changelog table" if schema.is_changelog else "table"
    rows = [("column", "type", "of", "because of"), *map(_row, columns)]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["  ".join([*(row[place].ljust(widths[place]) for place in range(3)), row[3]]).rstrip() for row in rows]
    key = ", ".join(map(quote_name, schema.primary_key))
    key_text = f"primary key ({key})" if key else "no primary key"
    return "\n".join([f"{kind} {name}, {key_text}", *lines, *notes])


def create_table_statement(
    database: str, name: str, columns: Sequence[CatalogColumn], schema: TableSchema, options: Mapping[str, str]
) -> str:
    """Write the CREATE TABLE statement of the reference's SQL, without secrets."""
    # Some names are words of the language, such as partition and timestamp
    parts = [
        f"  {backquote(column.name)} {column.type}{' METADATA' if column.part == 'metadata' else ''}"
        for column in columns
        # There, a row has its kind without a column
        if not (schema.is_changelog and column.name == ROW_KIND.name)
    ]
    if schema.primary_key:
        parts.append(f"  PRIMARY KEY ({', '.join(map(backquote, schema.primary_key))}) NOT ENFORCED")
    properties = {
        "connector": "kafka",
        **{key: value for key, value in options.items() if not _holds_secret(key, value)},
    }
    properties.pop("metadata.columns", None)  # the columns have METADATA instead
    assignments = [f"  {_literal(key)} = {_literal(value)}" for key, value in properties.items()]
    return "\n".join(
        [
            f"CREATE TABLE {backquote(database)}.{backquote(name)} (",
            ",\n".join(parts),
            ") WITH (",
            ",\n".join(assignments),
            ");",
        ]
    )


def _holds_secret(key: str, value: str) -> bool:
    # The URL of a schema registry may hold a password
    return is_secret(key) or ("://" in value and "@" in value)


def _row(column: CatalogColumn) -> tuple[str, str, str, str]:
    return quote_name(column.name), column.type, column.part, ", ".join(column.evidence)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
