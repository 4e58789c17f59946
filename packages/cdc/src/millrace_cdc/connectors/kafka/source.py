"""Kafka as a source of pipelines."""

from __future__ import annotations

from collections.abc import Iterator

from millrace.contracts import OptionProblem, PipelineSource
from millrace_cdc.connectors.kafka.format_options import unused_format_options
from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions


class KafkaPipelineSource(PipelineSource):
    """Changes of tables in topics."""

    Options = KafkaSourceOptions
    options: KafkaSourceOptions

    @property
    def metadata_columns(self) -> tuple[str, ...]:
        """The columns of ``metadata.list``."""
        return self.options.metadata

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
        yield from self._prefix_problems()
        yield from unused_format_options(options)

    def _startup_problems(self) -> Iterator[OptionProblem]:
        given = {
            "specific-offsets": ("scan.startup.specific-offsets", self.options.specific_offsets),
            "timestamp": ("scan.startup.timestamp-millis", self.options.timestamp_millis),
        }
        for mode, (name, value) in given.items():
            if (self.options.startup_mode == mode) != (value is not None):
                yield OptionProblem(name, f"{name!r} and 'scan.startup.mode: {mode}' go together: give both or none")

    def _prefix_problems(self) -> Iterator[OptionProblem]:
        key, value = self.options.key_prefix, self.options.value_prefix
        if key and self.options.key_format is None:
            yield OptionProblem("key.fields-prefix", "'key.fields-prefix' needs 'key.format': give both or none")
        if key and value and (key.startswith(value) or value.startswith(key)):
            yield OptionProblem(
                "value.fields-prefix",
                f"'key.fields-prefix' {key!r} and 'value.fields-prefix' {value!r}: none may begin with the other",
            )
