"""Results of statements, shaped as PyFlink's ``TableResult``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from millrace.display import html_table, html_text
from millrace_sql.errors import SqlError
from millrace_sql.execution.jobs import Job, JobClient
from millrace_sql.execution.printing import format_changes, format_rows, text_of

if TYPE_CHECKING:
    from pyspark.sql import Row
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.types import StructType

_SHOWN_ROWS = 100


class RowIterator(Iterator["Row"]):
    """Rows of a result, and a way to give up before the last.

    Args:
        rows: The rows.
        close: Called by `close`.
    """

    def __init__(self, rows: Iterable[Row], close: Callable[[], None]) -> None:
        self._rows = iter(rows)
        self._close = close

    def __next__(self) -> Row:
        return next(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the query that makes the rows, if it still runs."""
        self._close()


class TableResult:
    """The result of a statement.

    Args:
        schema: Its columns; None for a statement that only does something.
        rows: Its rows: a list, or, of a query, what makes them as they are taken.
        job: Its streams; None when it is done.
        is_changelog: Whether its rows are changes, whose kinds `print` shows, as for the query of a stream.
        upsert_key: The columns that identify a row of a changelog, in lower case; empty for one row at most; None when
            nothing identifies a row.
        max_width: The width of columns of text where it is printed.
        is_text: Whether it is one text, which is printed as it is.
    """

    def __init__(
        self,
        schema: StructType | None = None,
        rows: Iterable[Any] = (),
        *,
        job: Job | None = None,
        is_changelog: bool = False,
        max_width: int = 30,
        is_text: bool = False,
        upsert_key: tuple[str, ...] | None = None,
    ) -> None:
        self._schema = schema
        self._rows = rows
        self._job = job
        self.is_changelog = is_changelog
        self.upsert_key = upsert_key
        self._max_width = max_width
        self._is_text = is_text

    @property
    def query(self) -> StreamingQuery | None:
        """Spark's query of a statement that runs one stream; None when the statement is done.

        Raises:
            SqlError: It runs several: see `queries`.
        """
        queries = self.queries
        if len(queries) > 1:
            raise SqlError(f"a statement set runs a query for each INSERT, here {len(queries)}: see .queries")
        return queries[0] if queries else None

    @property
    def queries(self) -> tuple[StreamingQuery, ...]:
        """Spark's queries of the statement, in its order."""
        return () if self._job is None else self._job.queries

    def get_job_client(self) -> JobClient | None:
        """Return a handle of the running queries; None when the statement is done."""
        return None if self._job is None else JobClient(self._job)

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the statement is done, and its queries have ended.

        Args:
            timeout_ms: How long to wait, in milliseconds; for ever by default.

        Raises:
            TimeoutError: It took longer.
            StreamingQueryException: A query has failed; the others of a statement set were stopped.
        """
        if self._job is not None and not self._job.wait(None if timeout_ms is None else timeout_ms / 1000):
            raise TimeoutError(f"the statement still runs after {timeout_ms} ms")

    def get_table_schema(self) -> StructType:
        """Return the columns of the result, as Spark's types."""
        from pyspark.sql.types import StructType

        return StructType([]) if self._schema is None else self._schema

    def get_result_kind(self) -> str:
        """Return ``SUCCESS`` for a statement that only does something, else ``SUCCESS_WITH_CONTENT``."""
        return "SUCCESS" if self._schema is None else "SUCCESS_WITH_CONTENT"

    def collect(self) -> RowIterator:
        """Return the rows: of a stream's query for as long as it runs, so use it in a ``with``, or ``close()`` it."""
        return RowIterator(self._rows, lambda: None if self._job is None else self._job.cancel())

    def _repr_html_(self) -> str:
        """Return the first rows for a notebook; rows that a query still makes are left to `collect` and `print`."""
        if self._schema is not None and not isinstance(self._rows, list):
            return html_text("a query makes the rows: .print() shows them, .collect() returns them")
        if self._schema is None or self._is_text:
            return html_text("\n".join(self.lines()))
        rows = list(self._rows)
        shown = [[text_of(value) for value in row] for row in rows[:_SHOWN_ROWS]]
        more = f"the first {_SHOWN_ROWS} of {len(rows):,} rows" if len(rows) > _SHOWN_ROWS else ""
        return html_table(self._schema.names, shown, more)

    def print(self) -> None:
        """Print the rows, of a stream's query as they come; Ctrl-C ends it."""
        for line in self.lines():
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def lines(self) -> Iterator[str]:
        """Return what `print` prints, line by line."""
        if self._schema is None:
            yield "OK" if self._job is None else f"Started {', '.join(str(query.name) for query in self._job.queries)}"
            return
        if self._is_text:
            yield from (line for row in self._rows for line in str(row[0]).splitlines())
            return
        try:
            if self.is_changelog:
                yield from format_changes(self._schema, self._rows, self._max_width)
            else:
                yield from format_rows(self._schema.names, self._rows, self._max_width)
        finally:
            if self._job is not None:
                self._job.cancel()


def listing(column: str, values: Sequence[str]) -> TableResult:
    """Return a result of one column of text."""
    return table_of([column], [(value,) for value in values])


def text_result(text: str) -> TableResult:
    """Return a result of one text, such as a plan."""
    from pyspark.sql import Row
    from pyspark.sql.types import StringType, StructField, StructType

    return TableResult(StructType([StructField("result", StringType())]), [Row("result")(text)], is_text=True)


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str | bool | None]]) -> TableResult:
    """Return a result of columns of text, or of true and false."""
    from pyspark.sql import Row
    from pyspark.sql.types import BooleanType, StringType, StructField, StructType

    kinds = [
        BooleanType() if any(isinstance(row[place], bool) for row in rows) else StringType()
        for place in range(len(columns))
    ]
    schema = StructType([StructField(name, kind) for name, kind in zip(columns, kinds, strict=True)])
    make = Row(*columns)
    return TableResult(schema, [make(*row) for row in rows], max_width=1_000)
