"""Kafka as a source of pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.contracts import OptionProblem, SampledMessage
from millrace.wording import counted
from millrace_catalog.types import Schema
from millrace_cdc.connectors.initial_schemas import schemas_by_table
from millrace_cdc.connectors.kafka.format_options import unused_format_options
from millrace_cdc.connectors.kafka.reading import (
    client_of,
    newest_messages,
    parser_settings,
    read_messages,
    reads_topic,
)
from millrace_cdc.connectors.kafka.registry_format import registry_format_problems
from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions
from millrace_cdc.runtime.malformed_limits import MalformedLimits
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.source import MessageSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace.options.secrets import Properties


_SAMPLED = 50
"""The number of messages of each partition that a plan looks at where the options say nothing."""


class KafkaPipelineSource(MessageSource):
    """Changes of tables in topics."""

    Options = KafkaSourceOptions
    options: KafkaSourceOptions

    @property
    def parser_settings(self) -> ParserSettings:
        """The settings of the parser of its messages."""
        return parser_settings(self.options)

    @property
    def initial_schemas(self) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
        """The tables of ``scan.value.initial-schemas.ddls``."""
        return schemas_by_table(self.options.initial_schemas)

    @property
    def malformed_limits(self) -> MalformedLimits:
        """The limits of the malformed messages that are skipped: see `MessageSource.malformed_limits`."""
        options = self.options
        count = None if options.max_errors < 0 else options.max_errors
        return MalformedLimits(count, options.max_error_ratio, options.max_consecutive_errors)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of its messages: see `MessageSource.read`."""
        return read_messages(spark, self.options)

    def read_with_headers(self, spark: SparkSession) -> DataFrame:
        """Return a stream of its messages with their headers: see `MessageSource.read_with_headers`."""
        return read_messages(spark, self.options, has_headers=True)

    @property
    def client(self) -> Properties:
        """Properties of the client that reads."""
        return client_of(self.options)

    def reads(self, topic: str) -> bool:
        """Return whether it reads a topic."""
        return reads_topic(self.options, topic)

    def newest_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Read the newest messages of each partition, by topic."""
        return newest_messages(self.options, self.options.prefetched_records)

    def start_problems(self) -> Sequence[str]:
        """Return the sentence for a start at the offsets of a group that is not named."""
        if self.options.startup_mode != "group-offsets" or self.options.group_id is not None:
            return ()
        return (
            "'scan.startup.mode: group-offsets', the default, needs 'properties.group.id': name a group, or set "
            "'scan.startup.mode' to earliest-offset or latest-offset",
        )

    def sample_messages(self) -> Mapping[str, Sequence[SampledMessage]]:
        """Read messages that show what a run would find, also where a run reads none beforehand."""
        return newest_messages(self.options, self._sampled)

    @property
    def sample_scope(self) -> str:
        """The newest messages: see `MessageSource.sample_scope`."""
        return f"the newest {counted(self._sampled, 'message')} of each partition"

    def problems(self) -> Iterator[OptionProblem]:
        """Yield options that do not go together."""
        options = self.options
        if options.topics and options.topic_pattern:
            yield OptionProblem(
                "topic-pattern", "options 'topic' and 'topic-pattern' exclude each other: give one of them"
            )
        if not options.topics and not options.topic_pattern:
            yield OptionProblem("topic", "give the topics to read by 'topic', or by 'topic-pattern'")
        yield from self._startup_problems()
        yield from self._limit_problems()
        yield from self._prefix_problems()
        yield from unused_format_options(options)
        yield from registry_format_problems(options)

    @property
    def _sampled(self) -> int:
        return self.options.prefetched_records or _SAMPLED

    def _startup_problems(self) -> Iterator[OptionProblem]:
        as_text = self.options.timestamp is not None
        time = "scan.startup.timestamp" if as_text else "scan.startup.timestamp-millis"
        options_by_mode = {
            "specific-offsets": ("scan.startup.specific-offsets", self.options.specific_offsets),
            "timestamp": (time, self.options.startup_millis),
        }
        if as_text and self.options.timestamp_millis is not None:
            yield OptionProblem(time, f"{time!r} and 'scan.startup.timestamp-millis': give one of them")
        for mode, (name, value) in options_by_mode.items():
            if (self.options.startup_mode == mode) != (value is not None):
                yield OptionProblem(name, f"{name!r} and 'scan.startup.mode: {mode}' go together: give both or none")

    def _limit_problems(self) -> Iterator[OptionProblem]:
        limits = {
            "dirty-data.max-ratio": self.options.max_error_ratio,
            "dirty-data.max-consecutive": self.options.max_consecutive_errors,
        }
        for name, limit in limits.items():
            if limit is not None and not self.options.ignore_errors:
                yield OptionProblem(
                    name,
                    f"{name!r} requires 'ingestion.ignore-errors: true'; otherwise the first malformed message "
                    f"ends the pipeline",
                )

    def _prefix_problems(self) -> Iterator[OptionProblem]:
        key, value = self.options.key_prefix, self.options.value_prefix
        if key and self.options.key_format is None:
            yield OptionProblem("key.fields-prefix", "'key.fields-prefix' needs 'key.format': give both or none")
        if key and value and (key.startswith(value) or value.startswith(key)):
            yield OptionProblem(
                "value.fields-prefix",
                f"'key.fields-prefix' {key!r} and 'value.fields-prefix' {value!r}: none may begin with the other",
            )
