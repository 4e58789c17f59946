"""The seam to sources of messages: what the run-time asks of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from millrace.contracts import PipelineSource, SampledMessage
from millrace_cdc.runtime.malformed_limits import MalformedLimits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace.options.secrets import Properties
    from millrace_catalog.types import Schema
    from millrace_cdc.runtime.parser_settings import ParserSettings


class MessageSource(PipelineSource):
    """Base of sources whose tables are in messages, such as those of Kafka.

    Attributes:
        schema_origin: Where `initial_schemas` are from, for plans.
    """

    schema_origin: ClassVar[Literal["file", "database"]] = "file"

    @property
    @abstractmethod
    def parser_settings(self) -> ParserSettings:
        """The settings of the parser of its messages."""

    @property
    @abstractmethod
    def initial_schemas(self) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
        """The columns and primary keys of tables that the options give, by id."""

    @abstractmethod
    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of its messages, with at least the columns of `ParserSettings.source_columns`."""

    def read_with_headers(self, spark: SparkSession) -> DataFrame:
        """Return the same stream for a collector of malformed messages, with their headers where they have some."""
        return self.read(spark)

    @property
    def client(self) -> Properties | None:
        """Properties of the client of its Kafka cluster; None without one."""
        return None

    def reads(self, topic: str) -> bool:
        """Return whether it reads a topic of its cluster."""
        return False

    @abstractmethod
    def newest_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Read the newest messages of each partition, by topic, for the first schemas of tables."""

    def start_problems(self) -> Sequence[str]:
        """Return what keeps a run without a checkpoint from starting, as sentences; nothing by default."""
        return ()

    def sample_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Read messages that show what a run would find, by topic; by default the newest ones."""
        return self.newest_messages()

    @property
    def sample_scope(self) -> str | None:
        """Words for the messages that `sample_messages` reads, for plans; None where it shows all tables."""
        return None

    @property
    def malformed_limits(self) -> MalformedLimits:
        """The limits of the malformed messages that are skipped; none by default."""
        return MalformedLimits()
