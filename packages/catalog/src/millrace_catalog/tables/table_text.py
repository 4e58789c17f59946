"""A table in words and in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from millrace.contracts import CatalogColumn
from millrace.options.secrets import is_secret
from millrace_catalog.tables.table_schema import Shape
from millrace_catalog.types.names import quoted


def described(name: str, columns: Sequence[CatalogColumn], shape: Shape, notes: Sequence[str]) -> str:
    """What there is to say of a table, in lines.

    Args:
        name: Its name.
        columns: Its columns.
        shape: How they are put together.
        notes: Further lines.
    """
    kind = "upsert table" if shape.is_upsert else "table"
    rows = [("column", "type", "of", "because of"), *map(_row, columns)]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["  ".join([*(row[place].ljust(widths[place]) for place in range(3)), row[3]]).rstrip() for row in rows]
    key = ", ".join(map(quoted, shape.primary_key))
    return "\n".join([f"{kind} {name}, primary key ({key})", *lines, *notes])


def create_table(
    database: str, name: str, columns: Sequence[CatalogColumn], shape: Shape, options: Mapping[str, str]
) -> str:
    """The CREATE TABLE statement of the reference's SQL, without what is secret."""
    # Some of the names are words of the language, such as partition and timestamp
    parts = [f"  {_name(each.name)} {each.type}{' METADATA' if each.part == 'metadata' else ''}" for each in columns]
    parts.append(f"  PRIMARY KEY ({', '.join(map(_name, shape.primary_key))}) NOT ENFORCED")
    shown = {"connector": "kafka", **{key: value for key, value in options.items() if not is_secret(key)}}
    shown.pop("metadata.columns", None)  # which the columns say themselves
    given = [f"  {_literal(key)} = {_literal(value)}" for key, value in shown.items()]
    return "\n".join(
        [
            f"CREATE TABLE {_name(database)}.{_name(name)} (",
            ",\n".join(parts),
            ") WITH (",
            ",\n".join(given),
            ");",
        ]
    )


def _row(column: CatalogColumn) -> tuple[str, str, str, str]:
    return quoted(column.name), column.type, column.part, ", ".join(column.evidence)


def _name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
