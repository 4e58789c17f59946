"""The states of a pipeline's micro-batches, as its checkpoint has them: runs and plans go on with the same."""

from __future__ import annotations

from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.state_store import StateStore


class PipelineStates:
    """Read and write the states of micro-batches.

    Args:
        store: Keeps them as text.
        settings: The settings of schema evolution.
        planner: Gets to know the source's tables of each state.
    """

    def __init__(self, store: StateStore, settings: EvolutionSettings, planner: TablePlanner) -> None:
        self._store = store
        self._settings = settings
        self._planner = planner

    def before(self, batch: int) -> SchemaState:
        """Return the state with which a micro-batch begins: that of the newest one before it, or the initial one.

        Raises:
            StateError: The checkpoint has something else.
        """
        text = self._store.load_before(batch)
        if text is not None:
            return self._restore(text).next_batch()
        # The initial tables have not been applied to the sink yet, or are applied to it once more
        initial = self._store.load_initial()
        return SchemaState() if initial is None else self._restore(initial)

    def stored(self, batch: int) -> SchemaState | None:
        """Return the state of a micro-batch that was begun already; None where it has none of its own.

        Raises:
            StateError: The checkpoint has something else.
        """
        text = self._store.load(batch)
        return None if text is None else self._restore(text)

    def has(self, batch: int) -> bool:
        """Return whether a micro-batch has a state of its own."""
        return self._store.has(batch)

    def save(self, batch: int, state: SchemaState) -> None:
        """Write the state of a micro-batch.

        Raises:
            StateError: Another pipeline has written it.
        """
        self._store.save(batch, state.to_text())

    def amend(self, batch: int, state: SchemaState) -> None:
        """Write the state of a micro-batch that may have one already: from now on, this one counts.

        Raises:
            StateError: Another pipeline has written it.
        """
        self._store.amend(batch, state.to_text())

    def _restore(self, text: str) -> SchemaState:
        state = SchemaState.from_text(text, self._settings.max_columns, self._settings.strategy)
        # The layouts of the sink's tables are known by those of the source
        self._planner.targets_of(state.sources)
        return state
