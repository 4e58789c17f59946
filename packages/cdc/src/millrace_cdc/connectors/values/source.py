"""A source whose changes stand in the pipeline's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from millrace.contracts import SampledMessage
from millrace.options import option
from millrace_catalog.types import Schema
from millrace_cdc.connectors.initial_schemas import InitialSchema, parse_initial_schemas, schemas_by_table
from millrace_cdc.connectors.row_source import RowSource
from millrace_cdc.connectors.values.lines import parse_changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class ValuesSourceOptions:
    """The options of such a source."""

    changes: tuple[bytes, ...] = option(
        "changes",
        parse=parse_changes,
        doc='The changes, one per line: +I, -U, +U or -D, the table\'s id, and its row as JSON, as +I db.t {"id": 1}. '
        "The old row of an update (-U) comes before the new one (+U).",
    )
    schemas: tuple[InitialSchema, ...] = option(
        "schemas",
        default=(),
        parse=parse_initial_schemas,
        doc="The schemas of some tables: CREATE TABLE statements in Flink's SQL, separated by ';'. The schemas "
        "of other tables are inferred.",
    )


class ValuesPipelineSource(RowSource):
    """Changes that the pipeline's file gives, in their order."""

    Options = ValuesSourceOptions
    options: ValuesSourceOptions

    @property
    def initial_schemas(self) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
        """The tables of ``schemas``."""
        return schemas_by_table(self.options.schemas)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of its messages: see `MessageSource.read`."""
        from millrace_cdc.connectors.values.stream import read_values

        return read_values(spark, self.options.changes)

    def sample_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Return all messages: see `MessageSource.sample_messages`."""
        messages = (SampledMessage(0, offset, None, value) for offset, value in enumerate(self.options.changes))
        return {"values": list(messages)}
