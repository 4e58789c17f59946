"""The conformance suite for state backends."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
import uuid
from abc import abstractmethod

from millrace.contracts import KeyedStore, StateBackend
from millrace.testing.plugin_options import PluginOptionsSuite

_OTHER_PROCESS = "import pickle, sys; cls, options, act, name = pickle.load(sys.stdin.buffer); act(cls(options), name)"


def content(store: KeyedStore) -> tuple[bytes | None, dict[bytes, bytes]]:
    """Return the marker and the values of a store."""
    with store.view() as view:
        return view.marker, dict(view.items())


def _write(backend: StateBackend, name: str, marker: bytes | None = b"2") -> None:
    with backend.open(name).writer() as writer:
        writer.put([(b"a", b"of another process"), (b"b", None)])
        if marker is not None:
            writer.commit(marker)


def _write_and_die(backend: StateBackend, name: str) -> None:
    with backend.open(name).writer() as writer:
        writer.put([(b"a", b"never committed")])
        os.kill(os.getpid(), signal.SIGKILL)


class StateBackendSuite(PluginOptionsSuite):
    """Tests that a state backend keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override one member::

        class TestRocks(StateBackendSuite):
            def make_backend(self):
                return RocksBackend(RocksOptions(local_dir=str(folder)))

    Rules that the tests check:

    - A view shows what was committed last when it was made, whatever is committed meanwhile.
    - What is not committed is gone, also where the process is killed, and holds up no other writer.
    - All processes that open a name share its store; another name is another store.
    - Keys of 1 to 256 bytes and values of any length are kept, empty values among them, and come back in order.
    - A store that is removed is empty when it is opened again.
    """

    @abstractmethod
    def make_backend(self) -> StateBackend:
        """Make a new backend with valid options, on the same folder each time."""

    def make_plugin(self) -> StateBackend:
        return self.make_backend()

    def make_store(self, *changes: tuple[bytes, bytes | None]) -> tuple[StateBackend, str, KeyedStore]:
        """Return a backend, and the name and the store of a new state with marker ``1``."""
        backend, name = self.make_backend(), uuid.uuid4().hex
        store = backend.open(name)
        with store.writer() as writer:
            writer.put(changes)
            writer.commit(b"1")
        return backend, name, store

    def test_is_a_state_backend(self) -> None:
        assert isinstance(self.make_backend(), StateBackend), "subclass millrace.contracts.StateBackend"

    def test_a_new_store_is_empty(self) -> None:
        store = self.make_backend().open(uuid.uuid4().hex)
        assert content(store) == (None, {}), "a store that was never committed has no marker and no keys"
        with store.view() as view:
            assert view.size == 0, "it has no keys"
            assert view.get([b"a"]) == [None], "a key without a value has none"

    def test_committed_values_are_kept(self) -> None:
        _, _, store = self.make_store((b"\0", b"zero"), (b"a", b""), (b"b", b"2"))
        with store.view() as view:
            assert view.marker == b"1", "a view has the marker of the last commit"
            assert view.size == 3, "it counts the keys"
            assert view.size_bytes > 0, "it takes some room"
            values = view.get([b"a", b"x", b"\0", b"a"])
            assert values == [b"", None, b"zero", b""], "it finds the keys that there are, in the order of the question"

    def test_changes_replace_and_remove(self) -> None:
        _, _, store = self.make_store((b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
        with store.writer() as writer:
            assert writer.marker == b"1", "a writer has the marker of the last commit"
            writer.put([(b"a", b"one"), (b"b", None), (b"x", None)])
            writer.put([(b"d", b"4")])
            writer.commit(b"2")
        expected = {b"a": b"one", b"c": b"3", b"d": b"4"}
        assert content(store) == (b"2", expected), "a writer replaces, removes and adds"

    def test_what_is_not_committed_is_gone(self) -> None:
        backend, name, store = self.make_store((b"a", b"1"))
        _write(backend, name, marker=None)
        assert content(store) == (b"1", {b"a": b"1"}), "without a commit nothing changes"
        error = RuntimeError("while it wrote")
        try:
            with store.writer() as writer:
                writer.clear()
                raise error
        except RuntimeError:
            pass
        assert content(store) == (b"1", {b"a": b"1"}), "an exception leaves the store as it was, and is not swallowed"

    def test_clear_removes_everything(self) -> None:
        _, _, store = self.make_store((b"a", b"1"), (b"b", b"2"))
        with store.writer() as writer:
            writer.clear()
            writer.put([(b"b", b"new")])
            writer.commit(b"2")
        assert content(store) == (b"2", {b"b": b"new"}), "clear removes what there was, not what comes after it"

    def test_a_view_does_not_change(self) -> None:
        backend, name, store = self.make_store((b"a", b"1"), (b"b", b"2"))
        with store.view() as view:
            self._elsewhere(_write, backend, name)
            assert view.marker == b"1", "a view keeps its marker"
            assert dict(view.items()) == {b"a": b"1", b"b": b"2"}, "a view keeps its values"
        assert content(store) == (b"2", {b"a": b"of another process"}), "a later view sees what was committed"

    def test_a_killed_writer_leaves_nothing(self) -> None:
        backend, name, store = self.make_store((b"a", b"1"))
        self._elsewhere(_write_and_die, backend, name)
        assert content(store) == (b"1", {b"a": b"1"}), "what a killed process has not committed is gone"
        _write(backend, name)
        assert content(store)[0] == b"2", "a killed writer holds up no other"

    def test_names_are_different_stores(self) -> None:
        backend, _, _ = self.make_store((b"a", b"1"))
        assert content(backend.open(uuid.uuid4().hex)) == (None, {}), "another name is another store"

    def test_a_name_is_one_store(self) -> None:
        _, name, store = self.make_store((b"a", b"1"))
        again = self.make_backend().open(name)
        assert content(again) == content(store), "a process may open a store twice"

    def test_a_removed_store_is_empty(self) -> None:
        backend, name, store = self.make_store((b"a", b"1"))
        del store
        backend.remove(name)
        assert content(backend.open(name)) == (None, {}), "a store that was removed has nothing"
        backend.remove(uuid.uuid4().hex)

    def test_long_keys_and_values_come_back_in_order(self) -> None:
        keys = sorted(bytes(pair) * 128 for pair in itertools.product((0, 1, 127, 255), repeat=2))
        _, _, store = self.make_store(*[(key, key * 50) for key in keys])
        with store.view() as view:
            # Compared before the assertion: pytest takes minutes to draw the difference of values this long.
            is_in_order = list(view.items()) == [(key, key * 50) for key in keys]
            is_kept = view.get(keys) == [key * 50 for key in keys]
        assert is_in_order, "keys are in ascending order of their bytes"
        assert is_kept, "keys of 256 bytes and long values are kept"

    def _elsewhere(self, act: object, backend: StateBackend, name: str) -> None:
        """Let another process act."""
        sent = pickle.dumps((type(backend), backend.options, act, name))
        done = subprocess.run([sys.executable, "-c", _OTHER_PROCESS], input=sent, check=False, capture_output=True)
        is_as_expected = done.returncode == (-signal.SIGKILL if act is _write_and_die else 0)
        assert is_as_expected, f"another process could not write: {done.stderr.decode()}"
