"""Divide rows among tasks by their key, in order, so that the changes of a key are written one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql import functions as sf

from millrace.configuration.build import configure_sink
from millrace.errors import OptionsError
from millrace.options.secrets import Properties
from millrace.options.values import parse_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

POSITION = "__millrace_position"
"""The column of positions."""

_TASK_BITS = 33
"""Rows of a task have so many bits of their position, as with Spark's `monotonically_increasing_id`."""

_ROWS_PER_BATCH = 10_000


def repartition_by_key(
    rows: DataFrame, keys: str | Iterable[str], *, ordering: str | Iterable[str] = (), tasks: int | None = None
) -> DataFrame:
    """Repartition rows by key, so that one task gets all rows of a key, in order.

    By default, the rows of a key keep their order: row by row within a task, and task by task in the order of Spark's
    task numbers. For rows read by millrace, this is the order of the Kafka partition. If the rows of a key come from
    several partitions, only the columns in ``ordering`` can determine their order.

    Which task gets a row depends only on the row and the number of tasks, so it is the same in a repeated micro-batch.
    Streams are sorted in Python workers, which hold all rows of a task and micro-batch in memory. In foreachBatch and
    in a batch, Spark sorts and spills to disk. See docs/upsert.md.

    Args:
        rows: A batch or a stream, of a classic or a Connect session.
        keys: The columns of the key, as a list or separated by ``;``.
        ordering: The columns that order the rows of a key, ascending, NULL last; rows that are equal in them keep
            their order.
        tasks: The number of tasks; by default ``spark.sql.shuffle.partitions``, which a stream keeps in its checkpoint.

    Raises:
        OptionsError: There is no key, or no task.
    """
    key_columns, order = column_names(keys), column_names(ordering)
    if not key_columns or (tasks is not None and tasks < 1):
        problem = f"expected columns of a key, and a number of tasks above 0; got keys={keys!r}, tasks={tasks}"
        raise OptionsError("repartition_by_key", (problem,))
    columns = [column(name) for name in key_columns]
    order = (*order, POSITION)
    if rows.isStreaming:
        # Spark neither numbers nor sorts the rows of a stream
        divided = with_positions(rows).repartition(*([] if tasks is None else [tasks]), *columns)
        return divided.mapInArrow(_SortRows(order), rows.schema)
    numbered = rows.withColumn(POSITION, sf.monotonically_increasing_id())
    divided = numbered.repartition(*([] if tasks is None else [tasks]), *columns)
    return divided.sortWithinPartitions(*(column(name).asc_nulls_last() for name in order)).drop(POSITION)


def with_positions(rows: DataFrame) -> DataFrame:
    """Return a stream with the position of each row: by task, then by row in it."""
    from pyspark.sql.types import LongType, StructType

    return rows.mapInArrow(_number_rows, StructType([*rows.schema.fields]).add(POSITION, LongType(), False))


@dataclass(frozen=True)
class UpsertBatches:
    """A callback for foreachBatch; `upsert_batches` creates it.

    Attributes:
        options: The options of the data source; their text shows no secret.
        key_columns: The columns of the key.
        ordering: The columns that order the rows of a key.
        tasks: The number of tasks that write; None for Spark's.
    """

    options: Properties
    key_columns: tuple[str, ...]
    ordering: tuple[str, ...] = ()
    tasks: int | None = None

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Write a micro-batch; Spark calls it."""
        divided = repartition_by_key(rows, self.key_columns, ordering=self.ordering, tasks=self.tasks)
        divided.write.format("millrace").options(**self.options).mode("append").save()


def upsert_batches(
    options: Mapping[str, str], *, ordering: str | Iterable[str] = (), tasks: int | None = None
) -> UpsertBatches:
    """Return a callback for foreachBatch that repartitions each micro-batch by key and writes it to an upsert table.

    Use it to write aggregations in output mode update: changed groups replace their earlier versions. See
    docs/upsert.md, and docs/exactly-once.md for the settings that exactly-once requires in foreachBatch.

    Args:
        options: The options of the write; ``connector`` = ``upsert-kafka`` may be left out.
        ordering: As `repartition_by_key`.
        tasks: As `repartition_by_key`.

    Raises:
        OptionsError: An option is missing, invalid or unknown; the message lists all problems.
    """
    write_options = Properties({"connector": "upsert-kafka", **options})
    config = configure_sink(write_options)
    if not config.options.is_upsert:
        raise OptionsError("upsert_batches", ("option 'connector' must be 'upsert-kafka', or left out",))
    return UpsertBatches(write_options, config.options.key_fields, column_names(ordering), tasks)


def column_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return columns given as a list, or as a text separated by ``;``."""
    return (parse_columns(names) if names else ()) if isinstance(names, str) else tuple(names)


def column(name: str) -> Column:
    """Return the column of a name, whatever signs it has."""
    return sf.col("`" + name.replace("`", "``") + "`")


def _number_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import numpy as np
    import pyarrow as pa

    next_position = TaskContext.get().partitionId() << _TASK_BITS
    for batch in batches:
        positions = np.arange(next_position, next_position + batch.num_rows)
        next_position += batch.num_rows
        yield batch.append_column(POSITION, pa.array(positions, pa.int64()))


@dataclass(frozen=True)
class _SortRows:
    """Sort the rows of a task, and drop their positions."""

    order: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        collected = list(batches)
        if collected:
            # One chunk a column, so that each part below is taken without a look at all of them
            table = pa.Table.from_batches(collected).combine_chunks()
            sort_keys = [(name, "ascending") for name in self.order]
            indices = pc.sort_indices(table, sort_keys=sort_keys)
            table = table.drop_columns([POSITION])
            for start in range(0, len(indices), _ROWS_PER_BATCH):
                yield from table.take(indices.slice(start, _ROWS_PER_BATCH)).combine_chunks().to_batches()
