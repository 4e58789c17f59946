"""Tables that fail while others can go on: in the sink, or in a user-defined function."""

from __future__ import annotations

from dataclasses import replace

from millrace.errors import MillraceError, TableFailedError
from millrace_cdc.errors import FunctionFailedError
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState


class TableFailures:
    """Pause tables that the sink cannot take, or whose rows a function fails for.

    Args:
        planner: Knows what tables of the source go to one of the sink's.
        parser: Settings of the parser.
    """

    def __init__(self, planner: TablePlanner, parser: ParserSettings) -> None:
        self._planner = planner
        self._parser = parser

    def pause(self, state: SchemaState, error: Exception, *, is_change: bool) -> SchemaState:
        """Return the state in which the tables of the source are paused that go to the table that has failed.

        Args:
            state: The state of the micro-batch.
            error: The error of the sink or the function.
            is_change: Whether it could not change the table; its changes wait then.

        Raises:
            Exception: The error, where no table is to blame or tables are not paused.
        """
        if not self._parser.pauses:
            raise error
        by_function = _table_of_function(error)
        if by_function is not None and by_function[0] in state.sources:
            return replace(state, paused={**state.paused, by_function[0]: by_function[1]})
        table, reason = _failed_table(error)
        if table is None:
            raise error
        sources = self._sources(state, table)
        # Nothing reads the messages of the table of malformed ones once more
        if not sources or self._parser.malformed_table in sources:
            raise error
        paused = {**state.paused, **dict.fromkeys(sources, reason)}
        unapplied = state.unapplied | ({table} if is_change else set())
        return replace(state, paused=paused, unapplied=unapplied)

    def without_waiting(self, state: SchemaState) -> SchemaState:
        """Return a state in which only changes of tables wait whose source is paused still."""
        return replace(state, unapplied=state.unapplied & self._planner.targets_of(state.paused))

    def _sources(self, state: SchemaState, target: str) -> list[str]:
        """Return the tables of the source that go to one of the sink's and are not paused yet."""
        return [
            name for name in state.sources if name not in state.paused and target in self._planner.targets_of([name])
        ]


def _table_of_function(error: Exception) -> tuple[str, str] | None:
    """Return the table of the source whose rows a user-defined function fails for, and why; None without one."""
    if isinstance(error, FunctionFailedError):
        return error.table, str(error)
    table = FunctionFailedError.table_in(error)
    return None if table is None else (table, FunctionFailedError.message_in(error) or "")


def _failed_table(error: Exception) -> tuple[str | None, str]:
    """Return the table of the sink that alone is to blame, and why; None where none is."""
    if isinstance(error, MillraceError):
        return error.failed_table, str(error)
    return TableFailedError.table_in(error), TableFailedError.message_in(error) or ""
