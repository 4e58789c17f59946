"""Definitions that outlive a session, as SQL that people can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from millrace_catalog.types.identifiers import quote_name
from millrace_sql.definitions.checks import check_definition
from millrace_sql.definitions.model import Definition, TableDefinition, ViewDefinition, shown
from millrace_sql.definitions.secrets import plain_secrets
from millrace_sql.definitions.store import DefinitionStore
from millrace_sql.errors import SqlError
from millrace_sql.parser import parse
from millrace_sql.render import render
from millrace_sql.script_texts import NOWHERE, Identifier, ScriptPosition
from millrace_sql.statements import (
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Statement,
    Use,
)

Loaded = CreateCatalog | tuple[str, str, str | None] | TableDefinition | ViewDefinition | CreateFunction
"""A catalog, a database with its catalog and comment, a table, a view, or a function under its whole name."""

_OF_FUNCTIONS = "()"
"""Ending of the names of functions, which may be those of tables too."""


class KeptDefinitions:
    """Write and read the definitions of a folder.

    Args:
        store: The folder.
    """

    def __init__(self, store: DefinitionStore) -> None:
        self._store = store

    def check_secrets(self, what: str, options: Mapping[str, str], position: ScriptPosition) -> None:
        """Raise SqlError when an option holds a secret that would be written to a file."""
        plain = plain_secrets(options)
        if plain:
            raise SqlError(
                f"{what} is kept in a file, and option {plain[0]!r} holds a secret: write '${{env:NAME}}' for an "
                f"environment variable or '${{secret_values.name}}' instead, or CREATE TEMPORARY",
                position,
            )

    def save(self, definition: Definition) -> None:
        """Write a table or view.

        Raises:
            SqlError: One of its options holds a secret.
        """
        if isinstance(definition, TableDefinition):
            name = definition.identifier
            self.check_secrets(f"table {shown(name)}", definition.options, name.position)
            self._write(name.parts, definition.to_statement())
        elif isinstance(definition, ViewDefinition):
            # The names in its query are looked up from where it was created
            self._write(
                definition.identifier.parts,
                Use("CATALOG", Identifier((definition.catalog,))),
                Use("DATABASE", Identifier((definition.database,))),
                definition.to_statement(),
            )

    def save_catalog(self, statement: CreateCatalog) -> None:
        """Write a catalog."""
        self._write((statement.name,), statement)

    def save_database(self, catalog: str, database: str, comment: str | None) -> None:
        """Write a database."""
        self._write((catalog, database), CreateDatabase(Identifier((catalog, database)), comment))

    def save_function(self, name: Identifier, statement: CreateFunction) -> None:
        """Write a function."""
        self._write(_function_names(name), replace(statement, function=name, if_not_exists=False))

    def delete_function(self, name: Identifier) -> None:
        """Remove a function."""
        self._store.delete(_function_names(name))

    def delete(self, names: tuple[str, ...]) -> None:
        """Remove a definition, and what it contains."""
        self._store.delete(names)

    def load(self) -> Iterator[Loaded]:
        """Return all definitions; what contains others comes first.

        Raises:
            SqlError: A file does not hold the statements of a definition.
        """
        for names, text, path in self._store.load():
            try:
                yield _loaded(names, parse(text))
            except SqlError as error:
                raise SqlError(f"kept definition {path}: {error}") from error

    def _write(self, names: tuple[str, ...], *statements: Statement) -> None:
        self._store.save(names, "".join(f"{render(statement)};\n" for statement in statements))


def _function_names(name: Identifier) -> tuple[str, ...]:
    *database, function = name.parts
    return (*database, f"{function.lower()}{_OF_FUNCTIONS}")


def _loaded(names: tuple[str, ...], statements: list[Statement]) -> Loaded:
    statement = statements[-1] if statements else None
    if isinstance(statement, CreateCatalog) and len(names) == 1:
        return statement
    if isinstance(statement, CreateDatabase):
        catalog, database = names
        return catalog, database, statement.comment
    if isinstance(statement, CreateTable):
        table = TableDefinition(
            Identifier(names),
            statement.columns,
            statement.primary_key,
            statement.watermark,
            statement.comment,
            statement.partition_keys,
            statement.options,
        )
        return check_definition(table, NOWHERE)
    if isinstance(statement, CreateFunction):
        return statement
    if isinstance(statement, CreateView):
        used = [use.name.parts[-1] for use in statements if isinstance(use, Use)]
        catalog, database = used or names[:2]
        return ViewDefinition(
            Identifier(names), statement.query, statement.columns, catalog, database, statement.comment
        )
    expected = ("CREATE CATALOG", "CREATE DATABASE", "CREATE TABLE or CREATE VIEW")[len(names) - 1]
    raise SqlError(f"expected the statement {expected} of {'.'.join(map(quote_name, names))}")
