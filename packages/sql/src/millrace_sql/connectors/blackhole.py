"""The connector blackhole: a sink that drops its rows, to measure what comes before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ChangelogMode, SinkContext, TableDescription, TableFactory, TableSink
from millrace.errors import OptionsError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class BlackholeSink(TableSink):
    """Sink that computes all rows and drops them."""

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows."""
        return ChangelogMode.ALL

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Compute the rows."""
        rows.write.format("noop").mode("overwrite").save()


class BlackholeTableFactory(TableFactory):
    """Tables with ``'connector' = 'blackhole'``; they have no other option."""

    def check(self, table: TableDescription) -> None:
        """Refuse any option."""
        if table.options:
            raise OptionsError(
                f"table {table.name!r}", (f"connector 'blackhole' has no option {next(iter(table.options))!r}",)
            )

    def sink(self, table: TableDescription) -> TableSink:
        """Return the sink."""
        self.check(table)
        return BlackholeSink()
