"""Read a table of connector upsert-kafka."""

from __future__ import annotations

from millrace.contracts import ChangelogMode
from millrace_sql.connectors.kafka.source import KafkaSource


class UpsertKafkaSource(KafkaSource):
    """Read of a table with ``'connector' = 'upsert-kafka'``: a stream of all changes, or its latest rows as a batch.

    Args:
        kafka: The table.

    Raises:
        OptionsError, SchemaError: Its options or its metadata columns are wrong.
    """

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows."""
        return ChangelogMode.ALL

    @property
    def raw_changelog_mode(self) -> ChangelogMode:
        """New rows and deletions, as messages have them."""
        return ChangelogMode(frozenset({"+U", "-D"}))
