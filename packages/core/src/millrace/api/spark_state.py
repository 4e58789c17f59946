"""Changes with old rows from upserts, by state that Spark places, checkpoints and moves itself."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from millrace.api.key_order import POSITION, column, column_names, with_positions
from millrace.errors import MachineError, MessageError, OptionsError
from millrace.pyspark_internals import state_message_problem
from millrace.records.row_kinds import INSERT, UPDATE_BEFORE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_DELETE, _UPDATE_AFTER = "-D", "+U"


def normalize_upserts(upserts: DataFrame, keys: str | Iterable[str], *, row_kind_column: str = "row_kind") -> DataFrame:
    """Turn a stream of upserts into changes with old rows, using Spark's ``transformWithState``.

    Use it on a read with ``connector`` = ``upsert-kafka`` and ``changelog.mode`` = ``upsert``. It returns the same
    changes as a read with ``state.checkpoints.dir``, which is many times faster. Here, Spark's state store keeps the
    rows, only in the query's checkpoint. See "Spark's state store" in docs/upsert.md for the requirements.

    Args:
        upserts: A stream of inserted, updated and deleted rows. Each task must have all rows of a key, in order. Of a
            deleted row only the key is read.
        keys: The columns of the primary key, as a list or separated by ``;``.
        row_kind_column: The column of row kinds.

    Returns:
        The changes, with the same columns.

    Raises:
        OptionsError: A column is missing, or the session's state store cannot keep the rows.
        MachineError: PySpark's functions of state lack protobuf.
    """
    key_columns = column_names(keys)
    session = upserts.sparkSession
    problems = [
        f"the stream has no column {name!r}" for name in (*key_columns, row_kind_column) if name not in upserts.columns
    ]
    if not key_columns:
        problems.append(f"expected columns of a key, got {keys!r}")
    if session.conf.get(_PROVIDER, None) != _ROCKS_DB:
        problems.append(f"transformWithState needs RocksDB: spark.conf.set({_PROVIDER!r}, {_ROCKS_DB!r})")
    if problems:
        raise OptionsError("normalize_upserts", tuple(problems))
    unusable = state_message_problem()
    if unusable is not None:
        raise MachineError(
            f"normalize_upserts needs protobuf on the driver and all executors, and here it is unusable ({unusable}); "
            "run on all of them: pip install 'millrace-core[spark-state]'"
        )
    processor = UpsertProcessor(tuple(upserts.columns), row_kind_column)
    grouped = with_positions(upserts).groupBy(*map(column, key_columns))
    return grouped.transformWithState(processor, upserts.schema, "Append", "None")


class UpsertProcessor(StatefulProcessor):
    """Keep the last row of each key, and return the changes of the row.

    Args:
        columns: The columns of the rows.
        row_kind_column: The one of row kinds.
    """

    def __init__(self, columns: tuple[str, ...], row_kind_column: str) -> None:
        self._kind_index = columns.index(row_kind_column)
        self._columns = columns
        self._row = Row(*columns)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state: see `StatefulProcessor.init`."""
        # One value of bytes, since Spark gives some types back as others
        self._last = handle.getValueState("last", "row BINARY")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Yield the changes of a key's row: see `StatefulProcessor.handleInputRows`.

        Raises:
            MessageError: A row is the old one of an update.
        """
        stored = self._last.get()
        # Spark keeps it in the checkpoint, as it keeps the values that it pickles itself
        first = last = None if stored is None else pickle.loads(stored[0])  # noqa: S301
        # A shuffle keeps no order
        for row in sorted(rows, key=operator.itemgetter(POSITION)):
            values = [row[name] for name in self._columns]
            kind, values[self._kind_index] = values[self._kind_index], None
            if kind == UPDATE_BEFORE:
                raise MessageError("normalize_upserts expects upserts, and got the old row of an update (-U)")
            new = None if kind == _DELETE else values
            if new == last:
                continue
            if last is not None:
                yield self._change(_DELETE if new is None else UPDATE_BEFORE, last)
            if new is not None:
                yield self._change(INSERT if last is None else _UPDATE_AFTER, new)
            last = new
        if last is None:
            self._last.clear()
        elif last != first:
            self._last.update((pickle.dumps(last),))

    def _change(self, kind: str, values: list[Any]) -> Row:
        return self._row(*(kind if at == self._kind_index else value for at, value in enumerate(values)))
