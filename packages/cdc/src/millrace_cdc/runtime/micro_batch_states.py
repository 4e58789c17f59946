"""The states before and after each micro-batch of a run."""

from __future__ import annotations

from collections.abc import Iterable

from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.runtime.task_reports import TaskFindings
from millrace_cdc.runtime.truncation import TruncationPolicy


class MicroBatchStates:
    """Evolve the state of a pipeline from micro-batch to micro-batch, and store it.

    Args:
        states: The states in the checkpoint.
        evolution: Evolves schemas.
        failures: Knows which changes wait for paused tables.
        truncations: Decides which tables are emptied.
        rules: The digest of the rules of this run.
        request: The tables to pause, and those that go on.
    """

    def __init__(
        self,
        states: PipelineStates,
        evolution: SchemaEvolution,
        failures: TableFailures,
        truncations: TruncationPolicy,
        rules: str,
        request: PauseRequest = NO_REQUEST,
    ) -> None:
        self._states = states
        self._evolution = evolution
        self._failures = failures
        self._truncations = truncations
        self._rules = rules
        self._request = request
        self._last: SchemaState | None = None

    def before(self, batch: int) -> SchemaState:
        """Return the state with which a micro-batch begins.

        Raises:
            StateError: The checkpoint has something else.
        """
        state = self._states.before(batch) if self._last is None else self._last.next_batch()
        # Pause and resume requests take effect with the next new micro-batch
        if self._request == NO_REQUEST or self._states.has(batch):
            return state
        return self._failures.without_waiting(self._request.apply(state))

    def after(self, before: SchemaState, reports: Iterable[TaskFindings], batch: int) -> SchemaState:
        """Return the state with which a micro-batch ends, which is stored before the sink hears of it.

        A repeated micro-batch has the state that it had, unless other rules have made it.

        Raises:
            SchemaError: A table cannot change as messages or rules need, or must not.
            StateError: Another pipeline has written the state.
        """
        reports = tuple(reports)
        stored = self._states.stored(batch)
        if stored is not None:
            return self._by_todays_rules(stored, reports, batch)
        after = self._evolution.evolve(before, reports, resumed=sorted(self._request.resume))
        after = self._truncations.noted(after, reports)
        is_requested, self._request = self._request != NO_REQUEST, NO_REQUEST
        if is_requested or after.changes() or _differ(before, after):
            self._states.save(batch, after)
        return after

    def amend(self, batch: int, state: SchemaState) -> None:
        """Store another state of a micro-batch, which the sink has made necessary."""
        self._states.amend(batch, state)

    def finish(self, state: SchemaState) -> None:
        """Note the state of a micro-batch that is written."""
        self._last = state

    def _by_todays_rules(self, stored: SchemaState, reports: Iterable[TaskFindings], batch: int) -> SchemaState:
        if stored.rules == self._rules:
            return stored
        state = self._truncations.noted(self._evolution.evolve(stored, ()), reports)
        self._states.amend(batch, state)
        return state


def _differ(before: SchemaState, after: SchemaState) -> bool:
    same = before.paused == after.paused and before.malformed == after.malformed and before.rules == after.rules
    same = same and before.truncations == after.truncations and before.partitions == after.partitions
    versions = {name: tracker.version for name, tracker in before.sources.items()}
    return not same or versions != {name: tracker.version for name, tracker in after.sources.items()}
