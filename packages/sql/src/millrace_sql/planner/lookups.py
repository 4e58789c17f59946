"""The current rows of tables that streams are joined with, as of a micro-batch.

A micro-batch reads them at its beginning and writes them beside the query's checkpoint, so that a repeated one sees the
same rows. Of a table that knows positions it reads what has changed since the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.planner.folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_sql.planner.model import Scan

MAX_CHANGES = 30
"""The number of micro-batches whose changes are read beside a snapshot, at most."""

SNAPSHOT_SHARE = 0.1
"""The share of changed rows after which a new snapshot is written."""

MIN_CHANGED_ROWS = 10_000
"""The number of changed rows for which none is written yet."""

_BATCH = "__batch"


class Version(NamedTuple):
    """The rows of a table as of a micro-batch: a snapshot, and the changes of the micro-batches after it.

    Attributes:
        batch: The number of the micro-batch.
        snapshot: The number of that whose rows the snapshot has.
        slot: The snapshot's folder, 0 or 1.
        rows: The number of rows of the snapshot.
        changed: The number of changes after it.
        position: The table's position; None if nothing was ever in it.
    """

    batch: int
    snapshot: int
    slot: int
    rows: int
    changed: int
    position: str | None


_VERSION_SCHEMA = "batch BIGINT, snapshot BIGINT, slot INT, rows BIGINT, changed BIGINT, position STRING"


class CurrentRows:
    """The current rows of a table, in versions.

    Folders are written over by turns, since Spark deletes none. A repeated micro-batch is the last one, so that only
    its version and the one before it are needed.

    Args:
        scan: The table.
        location: A folder of the query's checkpoint, as a path or URI.
        number: The number of the scan in the query.
    """

    def __init__(self, scan: Scan, location: str, number: int) -> None:
        self._scan = scan
        self._location = f"{location.rstrip('/')}/current-rows-{number}"

    def view(self, session: SparkSession, read: Callable[[], DataFrame], batch_id: int) -> None:
        """Create the view of the rows as of a micro-batch.

        Args:
            session: The session of the micro-batch.
            read: Returns a read of the whole table, for one without positions.
            batch_id: The number of the micro-batch.
        """
        version = self._version(session, batch_id) or self._advance(session, batch_id)
        rows = self._whole(session, read, batch_id) if version is None else self._rows(session, version)
        rows.createOrReplaceTempView(self._scan.view_name)

    def first(self, session: SparkSession, read: Callable[[], DataFrame]) -> DataFrame:
        """Return the rows of the whole table as of the query's first start, which later ones find again."""
        return self._whole(session, read, 0)

    def _whole(self, session: SparkSession, read: Callable[[], DataFrame], batch_id: int) -> DataFrame:
        """Return all rows as of a micro-batch, which are read when it runs for the first time."""
        version = f"{self._location}/{batch_id % 2}"
        numbers = _read(session, f"{version}/batch", "id BIGINT")
        if numbers != [(batch_id,)]:
            # The number is written last: a version without it, or with an older one, is incomplete
            fold(read(), self._scan).write.mode("overwrite").parquet(f"{version}/rows")
            session.range(batch_id, batch_id + 1, 1, 1).write.mode("overwrite").parquet(f"{version}/batch")
        return session.read.parquet(f"{version}/rows")

    def _version(self, session: SparkSession, batch_id: int) -> Version | None:
        rows = _read(session, self._folder("version", batch_id % 2), _VERSION_SCHEMA)
        return Version(*rows[0]) if len(rows) == 1 and rows[0][0] == batch_id else None

    def _advance(self, session: SparkSession, batch_id: int) -> Version | None:
        """Read what has changed, and return the version of a micro-batch; None for a table without positions."""
        from pyspark.sql import functions as fn

        table = self._scan.table.changing
        before = self._version(session, batch_id - 1)
        since = None if before is None else before.position
        changes = None if table is None else table.changes(session, since)
        if table is None or changes is None:
            return None
        folder = self._folder("snapshot", 0) if before is None else self._folder("changes", batch_id)
        changes.withColumn(_BATCH, fn.lit(batch_id).cast("long")).write.mode("overwrite").parquet(folder)
        position, count = table.changes_end(session.read.parquet(folder), since)
        if before is None:
            version = Version(batch_id, batch_id, 0, count, 0, position)
        else:
            version = before._replace(batch=batch_id, changed=before.changed + count, position=position)
            if self._needs_snapshot(version):
                version = self._write_snapshot(session, version)
        # Written last: without it the micro-batch starts again from the version before it
        written = session.createDataFrame([tuple(version)], _VERSION_SCHEMA).coalesce(1)
        written.write.mode("overwrite").parquet(self._folder("version", batch_id % 2))
        return version

    def _needs_snapshot(self, version: Version) -> bool:
        is_long = version.batch - version.snapshot >= MAX_CHANGES
        return is_long or version.changed > max(MIN_CHANGED_ROWS, SNAPSHOT_SHARE * version.rows)

    def _write_snapshot(self, session: SparkSession, version: Version) -> Version:
        """Write the rows of a version, beside the snapshot that they are computed from."""
        slot = 1 - version.slot
        self._version_rows(session, version).write.mode("overwrite").parquet(self._folder("snapshot", slot))
        count = session.read.parquet(self._folder("snapshot", slot)).count()
        return version._replace(snapshot=version.batch, slot=slot, rows=count, changed=0)

    def _rows(self, session: SparkSession, version: Version) -> DataFrame:
        assert self._scan.table.changing is not None  # noqa: S101 - there would be no version
        return self._scan.table.changing.rows(self._version_rows(session, version))

    def _version_rows(self, session: SparkSession, version: Version) -> DataFrame:
        """Return the rows of a version, as they were written."""
        from pyspark.sql import functions as fn

        is_there = fn.col(ROW_KIND_COLUMN) != "-D"
        snapshot = session.read.parquet(self._folder("snapshot", version.slot)).where(is_there)
        batches = range(version.snapshot + 1, version.batch + 1)
        if not batches:
            return snapshot
        changes = session.read.parquet(*(self._folder("changes", batch) for batch in batches))
        keys = ["`" + name.replace("`", "``") + "`" for name in self._scan.table.primary_key]
        last = changes.groupBy(*keys).agg(fn.max_by(fn.struct("*"), _BATCH).alias("last")).select("last.*")
        key_names = list(self._scan.table.primary_key)
        unchanged = snapshot.join(fn.broadcast(last.select(*keys)), key_names, "left_anti")
        return unchanged.unionByName(last.where(is_there))

    def _folder(self, kind: str, number: int) -> str:
        # A version needs the changes of the last micro-batches, while those of the next are written
        return f"{self._location}/{kind}-{number % (2 * MAX_CHANGES)}"


def _read(session: SparkSession, path: str, schema: str) -> list[tuple]:
    from pyspark.errors import AnalysisException

    try:
        return [tuple(row) for row in session.read.schema(schema).parquet(path).collect()]
    except AnalysisException:  # there is no such folder yet
        return []
