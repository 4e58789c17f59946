"""The conformance suite fails for state backends that break the contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from millrace.contracts import StateBackend, StateView, StateWriter
from millrace.testing import StateBackendSuite
from millrace_state.lmdb_backend import LmdbBackend, LmdbOptions, LmdbStore, LmdbView, LmdbWriter


class KeepsRemoved(LmdbWriter):
    def put(self, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        super().put([change for change in changes if change[1] is not None])


class KeepsCleared(LmdbWriter):
    def clear(self) -> None:
        pass


class LosesEmpty(LmdbView):
    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return [value or None for value in super().get(keys)]


class Backwards(LmdbView):
    def items(self) -> Iterator[tuple[bytes, bytes]]:
        return reversed(list(super().items()))


def backend_with(folder: Path, view: type[LmdbView], writer: type[LmdbWriter]) -> StateBackend:
    class Store(LmdbStore):
        @contextmanager
        def view(self) -> Iterator[StateView]:
            with self._env.begin(db=self._rows) as transaction:
                yield view(self._env, transaction, self._meta, self._rows)

        @contextmanager
        def writer(self) -> Iterator[StateWriter]:
            transaction = self._env.begin(write=True)
            try:
                yield writer(transaction, self._meta, self._rows, self._folder)
            finally:
                transaction.abort()

    class Backend(LmdbBackend):
        stores: dict[str, Store] = {}  # noqa: RUF012

        def open(self, name: str) -> Store:
            if name not in self.stores:
                self.stores[name] = Store(folder / name, 1 << 30)
            return self.stores[name]

    return Backend(LmdbOptions(local_dir=str(folder)))


def failures(folder: Path, view: type[LmdbView] = LmdbView, writer: type[LmdbWriter] = LmdbWriter) -> set[str]:
    """The tests of the suite that a backend fails, of those that need no other process."""
    backend = backend_with(folder, view, writer)

    class Suite(StateBackendSuite):
        def make_backend(self) -> StateBackend:
            return backend

    return {
        name
        for name in (
            "changes_replace_and_remove",
            "clear_removes_everything",
            "committed_values_are_kept",
            "long_keys_and_values_come_back_in_order",
        )
        if fails(Suite(), name)
    }


def fails(suite: StateBackendSuite, name: str) -> bool:
    try:
        getattr(suite, f"test_{name}")()
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ({}, set()),
        ({"writer": KeepsRemoved}, {"changes_replace_and_remove"}),
        ({"writer": KeepsCleared}, {"clear_removes_everything"}),
        ({"view": LosesEmpty}, {"committed_values_are_kept"}),
        ({"view": Backwards}, {"long_keys_and_values_come_back_in_order"}),
    ],
)
def test_faults_are_found(tmp_path: Path, faults: dict[str, type], found: set[str]) -> None:
    assert failures(tmp_path, **faults) == found
