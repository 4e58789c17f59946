"""Translate a table's options to those of the data source ``millrace``, and let that check them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from millrace.configuration import SinkConfig, SourceConfig
from millrace.configuration.build import configure_sink, configure_source
from millrace.contracts import ROW_KIND_COLUMN, ChangelogFormat, TableDescription
from millrace.errors import OptionsError
from millrace.options.secrets import Properties

CONNECTOR = "connector"
ROW_KIND_OPTION = "changelog.row-kind-column"

Config = TypeVar("Config", SourceConfig, SinkConfig)

_DECLARED = "the table declares its columns; drop the option"
NOT_IN_TABLES = {
    "columns": _DECLARED,
    "metadata.columns": "declare a column for each, such as: event_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'",
    "metadata.list": "declare a column for each, such as: event_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'",
    "table-name": "a table has its own name; drop the option, or name the group by 'properties.group.id'",
    "changelog.primary-key": "declare PRIMARY KEY (id) NOT ENFORCED, and "
    "SET 'table.exec.source.cdc-events-duplicate' = 'true'; drop the option",
    ROW_KIND_OPTION: "the rows of a table carry their kinds without a column; drop the option",
}
"""The options of reads and writes that a table does not have, and what to do instead."""

_STARTS = {"scan.startup.mode", "startingoffsets", "startingoffsetsbytimestamp", "startingtimestamp"}


@dataclass(frozen=True)
class KafkaTable:
    """A table of Kafka's connectors, with the options that are not the data source's taken out.

    Attributes:
        table: The table.
        options: The options of the data source, without those that follow from its columns.
        parallelism: The number of tasks that write; None for as many as the rows have partitions.
    """

    table: TableDescription
    options: Properties
    parallelism: int | None

    @property
    def is_upsert(self) -> bool:
        """True when a row replaces earlier rows of its key."""
        return self.options[CONNECTOR] == "upsert-kafka"

    def option(self, *names: str) -> str | None:
        """Return the value of an option by the first of its names that is given, in any case; None without any."""
        by_name = {name.lower(): value for name, value in self.options.items()}
        return next((by_name[name] for name in names if name in by_name), None)

    def source_config(self, more: Mapping[str, str]) -> tuple[Properties, SourceConfig]:
        """Return the options of a read, with those that follow from the table, and what they say."""
        return self._configure({**more, **self._read_defaults()}, configure_source)

    def sink_config(self, more: Mapping[str, str]) -> tuple[Properties, SinkConfig]:
        """Return the options of a write, with those that follow from the table, and what they say."""
        return self._configure(more, configure_sink)

    def check(self) -> None:
        """Check all options before it is known whether the table is read or written.

        A plugin that is missing for one of the two is no problem, unless an option names it.

        Raises:
            OptionsError: An option is wrong or unknown.
        """
        failures: list[tuple[str, ...]] = []
        for configure in (self.source_config, self.sink_config):
            try:
                configure({})
            except OptionsError as error:
                failures.append(error.problems)
        problems = dict.fromkeys(problem for failure in failures for problem in failure)
        if len(failures) == 1:
            names = [repr(name) for name in self.table.options]
            problems = dict.fromkeys(problem for problem in problems if any(name in problem for name in names))
        if problems:
            raise OptionsError(f"table {self.table.name!r}", tuple(problems))

    def _configure(
        self, more: Mapping[str, str], configure: Callable[[Mapping[str, str]], Config]
    ) -> tuple[Properties, Config]:
        options = {**self.options, **more}
        config = self._checked(options, configure)
        if self.is_upsert or is_changelog(config):
            options[ROW_KIND_OPTION] = ROW_KIND_COLUMN
            config = self._checked(options, configure)
        return Properties(options), config

    def _read_defaults(self) -> dict[str, str]:
        if self.is_upsert:
            return {}
        defaults = {"table-name": self.table.name}
        if not _STARTS & {name.lower() for name in self.options}:
            defaults["scan.startup.mode"] = "group-offsets"
        return defaults

    def _checked(self, options: Mapping[str, str], configure: Callable[[Mapping[str, str]], Config]) -> Config:
        try:
            return configure(options)
        except OptionsError as error:
            raise OptionsError(f"table {self.table.name!r}", error.problems) from None


def kafka_table(table: TableDescription, connector: str, more: Mapping[str, str] | None = None) -> KafkaTable:
    """Take the options apart that belong to the table from those of the data source.

    Args:
        table: The table.
        connector: kafka or upsert-kafka.
        more: Further options of the data source.

    Raises:
        OptionsError: An option belongs to reads and writes without a table, or the parallelism is not a number.
    """
    problems = [
        f"option {name!r}: {NOT_IN_TABLES[name.lower()]}" for name in table.options if name.lower() in NOT_IN_TABLES
    ]
    options: dict[str, str] = {CONNECTOR: connector, **(more or {})}
    parallelism: int | None = None
    for name, value in table.options.items():
        if name.lower() == "sink.parallelism":
            parallelism = int(value) if value.strip().isdecimal() else 0
            if parallelism < 1:
                problems.append(f"option 'sink.parallelism': expected a whole number above 0; got {value!r}")
        else:
            options[name] = unescaped_login(name, value)
    if problems:
        raise OptionsError(f"table {table.name!r}", tuple(problems))
    names = {name.lower() for name in options}
    if "key.fields-prefix" in names and "value.fields-include" not in names:
        # A prefix distinguishes the key's columns from those of the value, so that the value has none of them
        options["value.fields-include"] = "EXCEPT_KEY"
    return KafkaTable(table, Properties(options), parallelism)


def unescaped_login(name: str, value: str) -> str:
    """Return a JAAS configuration whose quotes are escaped, as in Flink's documentation, without these backslashes."""
    return value.replace('\\"', '"') if name.lower().endswith("sasl.jaas.config") and '=\\"' in value else value


def is_changelog(config: SourceConfig | SinkConfig) -> bool:
    """Return whether the format of values has messages that are changes of rows."""
    return config.value_format is not None and isinstance(_format(config), ChangelogFormat)


def has_upserts(config: SourceConfig | SinkConfig) -> bool:
    """Return whether updates of the format of values may lack their old rows."""
    value_format = None if config.value_format is None else _format(config)
    return isinstance(value_format, ChangelogFormat) and value_format.upserts


def format_metadata(config: SourceConfig | SinkConfig) -> Mapping[str, Any]:
    """Return the metadata that the format of values reads: Arrow types by keys, without ``value.``."""
    value_format = None if config.value_format is None else _format(config)
    return value_format.metadata() if isinstance(value_format, ChangelogFormat) else {}


def _format(config: SourceConfig | SinkConfig) -> Any:
    assert config.value_format is not None  # noqa: S101 - its callers look
    return config.value_format.create()
