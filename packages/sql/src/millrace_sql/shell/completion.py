"""Complete what is typed: keywords, and the names of catalogs, tables, columns, options and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from millrace.errors import MillraceError
from millrace.options import options_of
from millrace.plugins import TABLE_FACTORY, plugin_manager
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.configuration.options import SessionOptions
from millrace_sql.parser.completion import complete
from millrace_sql.parser.expected_names import ExpectedNames
from millrace_sql.script_texts import Identifier

if TYPE_CHECKING:
    from millrace_sql.environment import TableEnvironment

_KAFKA = ("kafka", "upsert-kafka")
_CLIENT_OPTIONS = ("properties.bootstrap.servers", "properties.group.id")


class StatementCompleter(Completer):
    """Complete statements by the tables of an environment.

    Args:
        environment: The environment.
    """

    def __init__(self, environment: TableEnvironment) -> None:
        self._environment = environment
        self._names: dict[str, Callable[[ExpectedNames], Iterable[str]]] = {
            "catalog": lambda _: environment.list_catalogs(),
            "column": self._columns,
            "database": lambda _: environment.list_databases(),
            "option": _options,
            "option value": _values,
            "setting": lambda _: _names_of(SessionOptions),
            "table": self._tables,
            "view": lambda _: environment.list_views(),
        }

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Return what may stand at the cursor: names first, then keywords."""
        context = complete(document.text, document.cursor_position)
        replaced = document.cursor_position - context.start
        names = {
            name for kind in context.names.kinds if kind in self._names for name in self._find(kind, context.names)
        }
        prefix = context.prefix.lower()
        for name in sorted(name for name in names if name.lower().startswith(prefix)):
            is_name = not context.quote and not name.count(".")
            yield Completion(quote_name(name) if is_name else name, start_position=-replaced)
        for word in context.keywords:
            yield Completion(word, start_position=-replaced)

    def _find(self, kind: str, expected: ExpectedNames) -> Iterable[str]:
        # A table whose columns cannot be had, such as one of a cluster that is down, completes to nothing
        with suppress(MillraceError):
            return list(self._names[kind](expected))
        return ()

    def _tables(self, expected: ExpectedNames) -> Iterable[str]:
        if expected.qualifier:
            database = ".".join(map(quote_name, expected.qualifier))
            return (str(row[0]) for row in self._environment.execute_sql(f"SHOW TABLES FROM {database}").collect())
        return self._environment.list_tables()

    def _columns(self, expected: ExpectedNames) -> Iterable[str]:
        yield from expected.columns
        for table in expected.tables:
            yield from self._columns_of(table)

    def _columns_of(self, table: Identifier) -> Iterable[str]:
        name = ".".join(map(quote_name, table.parts))
        return (str(row[0]) for row in self._environment.execute_sql(f"DESCRIBE {name}").collect())


def _options(expected: ExpectedNames) -> Iterable[str]:
    connector = expected.options.get("connector")
    if connector is None:
        return ["connector"]
    return (name for name in _options_of(connector) if name not in expected.options)


def _options_of(connector: str) -> Iterable[str]:
    if connector in _KAFKA:
        from millrace.options.connector import SinkOptions, SourceOptions

        return {*_CLIENT_OPTIONS, *_names_of(SourceOptions), *_names_of(SinkOptions)}
    declared = getattr(plugin_manager().load(TABLE_FACTORY, connector), "TableOptions", None)
    return _names_of(declared) if declared is not None else ()


def _values(expected: ExpectedNames) -> Iterable[str]:
    return plugin_manager().names(TABLE_FACTORY) if expected.key == "connector" else ()


def _names_of(options: type) -> list[str]:
    return [info.name for info in options_of(options).values()]
