"""Check tables with their connectors when they are created, and say where in the statement something is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from millrace.contracts import TableDescription, TableFactory
from millrace.errors import OptionsError, SchemaError, UnknownPluginError
from millrace_sql.definitions.model import CONNECTOR, TableDefinition
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import Options, ScriptPosition


def check_with_factory(factory: TableFactory, table: TableDescription, without_value: AbstractSet[str]) -> None:
    """Check a table as its factory does, but for options whose value is not known yet.

    Args:
        factory: The factory.
        table: The table, with those options as they are written.
        without_value: The names of those options.

    Raises:
        OptionsError, SchemaError: As `TableFactory.check`.
    """
    try:
        factory.check(table)
    except OptionsError as error:
        known = [problem for problem in error.problems if not _mentions(problem, without_value)]
        if known:
            raise OptionsError(error.side, tuple(known)) from None


@contextmanager
def located(table: TableDefinition, options: Mapping[str, str], position: ScriptPosition) -> Iterator[None]:
    """Give an error about a table's options or columns the place of the first one that it names.

    Args:
        table: The table.
        options: The options that the statement gives.
        position: The statement's place, for what has none of its own.

    Raises:
        SqlError: In place of the errors of connectors.
    """
    try:
        yield
    except UnknownPluginError as error:
        raise SqlError(str(error), _place({CONNECTOR}, options) or position) from error
    except (OptionsError, SchemaError) as error:
        named = {name for name in options if _mentions(str(error), {name})}
        named_columns = (column for column in table.columns if _mentions(str(error), {column.name}))
        columns = (column.position for column in named_columns if column.position.line)
        raise SqlError(str(error), _place(named, options) or next(columns, None) or position) from error


def _place(names: AbstractSet[str], options: Mapping[str, str]) -> ScriptPosition | None:
    positions = options.positions if isinstance(options, Options) else {}
    return min((positions[name] for name in names if name in positions), default=None)


def _mentions(problem: str, names: AbstractSet[str]) -> bool:
    return any(repr(name).lower() in problem.lower() for name in names)
