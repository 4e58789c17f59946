"""Tables and columns of a target that somebody else has dropped: a pipeline ends before it loses a value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from millrace.contracts import PipelineSchemaChange
from millrace.errors import SchemaError
from millrace_catalog.types import Schema, widen_schemas
from millrace_catalog.types.identifiers import quote_name

_INSTEAD = "or start the pipeline with a new checkpoint"


def missing_table(table: str, place: str) -> SchemaError:
    """Make the error of a table that is not where the pipeline has created it, or expects it.

    Args:
        table: The id of the table.
        place: Words for its place, and that it is not there.
    """
    return SchemaError(
        f"table {table!r} should be {place}: create it, or, if it has been dropped, start the pipeline with a new "
        f"checkpoint"
    )


def check_columns(table: str, required: Iterable[str], present: Collection[str]) -> None:
    """Check that a target has the columns that the pipeline has given it.

    Raises:
        SchemaError: It lacks one.
    """
    missing = [quote_name(name) for name in required if name not in present]
    if missing:
        columns = f"column {missing[0]}" if len(missing) == 1 else f"columns {', '.join(missing)}"
        raise SchemaError(
            f"the target of table {table!r} has no {columns} any more: add {'it' if len(missing) == 1 else 'them'} "
            f"again, {_INSTEAD}"
        )


def check_types(table: str, required: Schema, present: Schema) -> None:
    """Check that a target's columns are there and as wide as the pipeline has made them.

    Raises:
        SchemaError: One is not.
    """
    check_columns(table, required.names, present.types)
    wide = widen_schemas(present, required).types
    for column in present:
        if wide[column.name] != column.type:
            raise SchemaError(
                f"column {quote_name(column.name)} in the target of table {table!r} is {column.type} now, which does "
                f"not hold all values of {required.types[column.name]}: change it to {wide[column.name]}, {_INSTEAD}"
            )


def added_columns(changes: Sequence[PipelineSchemaChange]) -> dict[str, frozenset[str] | None]:
    """Return the columns that schema changes add, by id of the table; None for tables that they create."""
    created = {change.table.id for change in changes if change.type == "create.table"}
    added: dict[str, set[str]] = {}
    for change in changes:
        added.setdefault(change.table.id, set()).update(change.columns if change.type == "add.column" else ())
    return {table: None if table in created else frozenset(columns) for table, columns in added.items()}
