"""Streams of changes of a table as files, queries over them in micro-batches, and the tables that the changes leave."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from millrace_sql.execution.queries import starting
from millrace_sql.planner import InputColumn, InputTable, Scan, SparkPlan
from millrace_sql.script_texts import Identifier
from support.waiting import PATIENCE_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MICRO_BATCHES = 3

Row = dict[str, Any]

# One number for each operation, which is drawn faster than its parts
_operation = st.integers(0, 4 * 6**4 - 1)
change_streams = st.lists(st.lists(_operation, max_size=5), min_size=MICRO_BATCHES, max_size=MICRO_BATCHES)
"""Streams of operations, a list for each micro-batch."""


def _parts(operation: int) -> tuple[int, Row | None]:
    """Return the key of an operation, and the row that it puts there; None for one that deletes it."""
    key, rest = operation % 4, operation // 4
    kind, v, m, x = (rest // 6**power % 6 for power in range(4))
    values = (None, -3, 0, 2, 5, 9)
    name = (None, "a", "b", "c", "d")[min(kind, 4)]
    return key, None if kind == 5 else {"name": name, "v": values[v], "m": values[m], "x": values[x]}


def changes_of(number: int, stream: list[list[int]]) -> list[list[Row]]:
    """Return the changes of a stream, by micro-batch: None deletes the row of a key, if there is one."""
    table: dict[int, Row] = {}
    micro_batches = []
    for operations in stream:
        rows: list[Row] = []
        for key, values in map(_parts, operations):
            old = table.pop(key, None)
            if values is not None:
                new = {"stream": number, "id": key, **values, "m": None if values["m"] is None else f"{values['m']}.5"}
                rows += (
                    [{**old, "__row_kind": "-U"}, {**new, "__row_kind": "+U"}] if old else [{**new, "__row_kind": "+I"}]
                )
                table[key] = new
            elif old:
                rows.append({**old, "__row_kind": "-D"})
        micro_batches.append(rows)
    return micro_batches


class Changes:
    """Changes of a table as files, a micro-batch each."""

    schema = "stream INT, id INT, name STRING, v INT, m DECIMAL(10,2), x DOUBLE, __row_kind STRING"

    def __init__(self, folder: Path, micro_batches: list[list[Row]], schema: str = schema) -> None:
        self.folder, self.micro_batches, self.schema = folder, micro_batches, schema
        for number, rows in enumerate(micro_batches):
            file = folder / f"{number:03}.json"
            file.write_text("\n".join(map(json.dumps, rows)))
            os.utime(file, (1e9 + number, 1e9 + number))  # Spark reads the oldest first

    def stream(self, spark: SparkSession) -> DataFrame:
        return spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1).json(str(self.folder))

    def final(self, spark: SparkSession) -> DataFrame:
        table: Counter[str] = Counter()
        for row in (row for rows in self.micro_batches for row in rows):
            sign = -1 if row["__row_kind"] in {"-U", "-D"} else 1
            table[json.dumps({name: value for name, value in row.items() if name != "__row_kind"})] += sign
        assert set(table.values()) <= {0, 1}
        lines = [(line,) for line, count in table.items() if count]
        rows = (
            spark.createDataFrame(lines, "line STRING")
            .selectExpr(f"from_json(line, '{self.schema}') AS r")
            .select("r.*")
        )
        return rows.drop("__row_kind")


def input_table(spark: SparkSession, name: str, schema: str, *, key: tuple[str, ...] = (), **more: Any) -> InputTable:
    fields = spark.createDataFrame([], schema).schema.fields
    columns = tuple(InputColumn(field.name, field.dataType) for field in fields if field.name != "__row_kind")
    return InputTable(Identifier(("cat", "db", name)), columns, key, **more)


class Run:
    """A query over streams, and the rows that came out of it."""

    def __init__(
        self, spark: SparkSession, plan: SparkPlan, read: Callable[[Scan], DataFrame], checkpoint: Path
    ) -> None:
        self.plan, self.batches = plan, []
        rows = plan.execute(spark, read, str(checkpoint / "state"))

        def keep(batch: DataFrame, number: int) -> None:
            result = plan.apply_to_batch(batch, number) if plan.runs_per_batch else batch
            self.columns = result.columns
            self.batches.append([tuple(row) for row in result.collect()])

        writer = rows.writeStream.outputMode(plan.output_mode).option("checkpointLocation", str(checkpoint / "spark"))
        with starting(spark, plan):
            query = writer.foreachBatch(keep).trigger(availableNow=True).start()
        try:
            assert query.awaitTermination(PATIENCE_S)
        finally:
            query.stop()

    @property
    def rows(self) -> list[tuple]:
        return [row for batch in self.batches for row in batch]

    def table(self) -> Counter[tuple]:
        """Return the table that a sink of upserts, or one of all changes, has at the end."""
        if self.plan.changelog_mode.is_insert_only:
            return Counter(self.rows)
        if not self.plan.upsert_key:
            signed: Counter[tuple] = Counter()
            for *values, kind in self.rows:
                signed[tuple(values)] += -1 if kind in {"-U", "-D"} else 1
            assert min(signed.values(), default=0) >= 0
            return +signed
        places = [[name.lower() for name in self.columns].index(name) for name in self.plan.upsert_key]
        kept: dict[tuple, tuple] = {}
        for *values, kind in self.rows:
            key = tuple(values[place] for place in places)
            if kind in {"-U", "-D"}:
                kept.pop(key, None)
            else:
                kept[key] = tuple(values)
        return Counter(kept.values())
