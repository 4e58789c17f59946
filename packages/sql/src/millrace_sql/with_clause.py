"""The WITH clause of a table, as a dialect of ``millrace convert``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from millrace.errors import OptionsError
from millrace.options.values import parse_time_ms
from millrace.wording import counted
from millrace_cli.converting.declared_options import declared
from millrace_cli.converting.dialect import (
    OptionDialect,
    OptionSet,
    Side,
    TranslationStep,
    attempt,
    dropped,
    implied,
    undecided,
)
from millrace_cli.converting.spark_names import GROUP_NAMES, engine_options
from millrace_sql import statements as s
from millrace_sql.connectors.kafka.data_source_options import CONNECTOR, NOT_IN_TABLES, unescaped_login
from millrace_sql.definitions.legacy_options import legacy_advice
from millrace_sql.parser import parse
from millrace_sql.render import render_options

_CLAUSE = re.compile(r"""\bWITH\s*\(|^\s*\(?\s*'[^']+'\s*=\s*'""", re.IGNORECASE)
_KAFKA = ("kafka", "upsert-kafka")
_KEY_FIELDS = "key.fields"
_ENDS = ("scan.startup.", "scan.bounded.")
_ADDED = ("partition-timestamps", "specific-offsets.others", "timestamp-no-match")
_ADDITION = re.compile(r"\(an addition(\)\.|;)")
"""The mark of an option that the reference does not have, in its documentation."""


class WithClause(OptionDialect):
    """The options of a table of Flink SQL: a script with one table of Kafka's connectors, or its options alone."""

    title = "Flink SQL"

    def recognizes(self, text: str) -> bool:
        """Return whether a text has a WITH clause, or begins like its options."""
        return _CLAUSE.search(text) is not None

    def parse(self, text: str) -> OptionSet:
        """Return the options of the table.

        Raises:
            SqlError: The text is wrong.
            OptionsError: It has no table of Kafka's connectors, or several.
        """
        table = _table(text)
        options = {name: unescaped_login(name, value) for name, value in table.options.items()}
        advice = legacy_advice(options)
        if advice:
            raise OptionsError("WITH clause", (advice,))
        if options.get(CONNECTOR) == "upsert-kafka" and table.primary_key is not None:
            options[_KEY_FIELDS] = ";".join(table.primary_key.columns)
        return OptionSet(options, notes=tuple(_notes(table, options)))

    def format(self, options: Mapping[str, str]) -> str:
        """Return a WITH clause, which names a connector."""
        return f"WITH {render_options({CONNECTOR: _KAFKA[0], **options})}\n"

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction of a table with options of sinks alone."""
        reads = any(name.startswith("scan.") for name in options)
        return Side.WRITE if not reads and any(name.startswith("sink.") for name in options) else None

    def to_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Take options as they are: millrace has those of the reference."""
        return [TranslationStep({name: value}, {name: value}) for name, value in options.items()]

    def from_millrace(self, options: Mapping[str, str], side: Side) -> list[TranslationStep]:
        """Take the options that the reference has, and say what to declare in place of others."""
        return [_step(name, value, options) for name, value in options.items()]


def _table(text: str) -> s.CreateTable:
    stripped = text.strip().rstrip(";")
    if re.match(r"WITH\b", stripped, re.IGNORECASE):
        stripped = f"CREATE TABLE `NAME` {stripped}"
    elif stripped.startswith("'"):
        stripped = f"CREATE TABLE `NAME` WITH ({stripped.rstrip(',')})"
    elif stripped.startswith("("):
        stripped = f"CREATE TABLE `NAME` WITH {stripped}"
    tables = [statement for statement in parse(stripped) if isinstance(statement, s.CreateTable)]
    # A clause alone may lack the connector
    chosen = [table for table in tables if table.options.get(CONNECTOR, _KAFKA[0]) in _KAFKA]
    if len(chosen) != 1:
        names = f": {', '.join('.'.join(table.table.parts) for table in chosen)}" if chosen else ""
        problem = f"expected one table with 'connector' = 'kafka' or 'upsert-kafka'; there are {len(chosen)}{names}"
        raise OptionsError("WITH clause", (problem,))
    return chosen[0]


def _notes(table: s.CreateTable, options: Mapping[str, str]) -> Iterator[str]:
    if table.columns:
        yield (
            f"the table's {counted(len(table.columns), 'column')} must be declared again, in Python by .schema(...) "
            "and by the option metadata.columns"
        )
    if "scan.startup.mode" not in options and "properties.group.id" not in options:
        yield (
            f"a table without a group starts at the offsets of the group KafkaSource-{table.table.parts[-1]}; the "
            "option table-name gives a read this group, and scan.startup.mode = group-offsets lets it start so"
        )


def _step(name: str, value: str, options: Mapping[str, str]) -> TranslationStep:
    decision = _decision(name, value, options)
    if decision is not None:
        return undecided(name, value, decision)
    if name in engine_options(options):
        return dropped(name, value, "it is a setting of Spark's query: SET 'execution.checkpointing.dir' is Flink's")
    for prefix in _ENDS:
        if name.startswith(prefix):
            return _place(name, name.removeprefix(prefix), value, options)
    info = declared(name)
    if info is not None and _ADDITION.search(info.doc):
        return dropped(name, value, "it is an addition of millrace")
    return TranslationStep({name: value}, {name: value})


def _decision(name: str, value: str, options: Mapping[str, str]) -> str | None:
    """Return what to write in place of an option that a table does not have; None for others."""
    if name == _KEY_FIELDS and options.get(CONNECTOR) == "upsert-kafka":
        return f"declare PRIMARY KEY ({', '.join(value.split(';'))}) NOT ENFORCED"
    if name in GROUP_NAMES:
        return "it only names the client's group: properties.group.id also starts at its offsets and commits them"
    if name == "includeHeaders":
        return "declare a column, as headers MAP<STRING, BYTES> METADATA"
    return NOT_IN_TABLES.get(name.lower())


def _place(name: str, setting: str, value: str, options: Mapping[str, str]) -> TranslationStep:
    """Return the step of an option for where reading starts or stops."""
    if setting == "all-partitions-named":
        return implied({name: value}, "Flink does not check that the list is complete")
    if setting == "timestamp-no-match" and value == "latest":
        return implied({name: value}, "Flink takes the end of a partition without such a record, too")
    if setting == "timestamp":
        return attempt({name: value}, lambda: {f"{name}-millis": str(parse_time_ms(value))})
    if setting == "specific-offsets":
        topic = options.get("topic", "")
        offsets = value.replace(f"topic:{topic},", "") if topic else value
        if "topic:" in offsets or "offset:earliest" in offsets or "offset:latest" in offsets:
            return undecided(name, value, "Flink takes numbers alone, for the partitions of one topic")
        return TranslationStep({name: value}, {name: offsets})
    if setting in _ADDED:
        return dropped(name, value, "it is an addition of millrace")
    return TranslationStep({name: value}, {name: value})
