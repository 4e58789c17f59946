"""The catalogs of a session: names, the current catalog and database, and changes of definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from millrace.options.suggestions import closest
from millrace.plugins import CATALOG, plugin_manager
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.definitions.catalogs import CatalogDatabase, DefinedCatalog, PluginCatalog, SqlCatalog
from millrace_sql.definitions.kept import KeptDefinitions
from millrace_sql.definitions.model import DataFrameView, Definition, shown
from millrace_sql.definitions.secrets import References
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import Identifier, ScriptPosition
from millrace_sql.statements import CreateCatalog, CreateFunction

_IN_MEMORY = "generic_in_memory"


class CatalogManager:
    """Look up and change the definitions of a session.

    Args:
        catalog: Name of the catalog that is there at the start, and its first current one.
        database: Name of the database in it.
        references: Values of references in options.
        kept_definitions: Where definitions are kept that are not temporary; None for the session only.

    Attributes:
        current_catalog: The current catalog.
        current_database: The current database.
        kept_functions: The statements that create the functions that are kept.
    """

    def __init__(
        self, catalog: str, database: str, references: References, kept_definitions: KeptDefinitions | None = None
    ) -> None:
        self.current_catalog, self.current_database = catalog, database
        self._references = references
        self._kept_definitions = kept_definitions
        self._temporary: dict[Identifier, Definition] = {}
        built_in = DefinedCatalog()
        built_in.content[database] = CatalogDatabase()
        self._built_in = catalog
        self._catalogs: dict[str, SqlCatalog] = {catalog: built_in}
        self.kept_functions: list[CreateFunction] = []
        if kept_definitions is not None:
            self._load(kept_definitions)

    # Names

    def resolve(self, name: Identifier, catalog: str | None = None, database: str | None = None) -> Identifier:
        """Return a whole name: catalog, database and table; what is missing is the current one, or as given."""
        context = (catalog or self.current_catalog, database or self.current_database)
        return Identifier((*context[: 3 - len(name.parts)], *name.parts), name.position)

    def catalogs(self) -> list[str]:
        """Return the names of all catalogs, sorted."""
        return sorted(self._catalogs)

    def catalog(self, name: str, position: ScriptPosition | None = None) -> SqlCatalog:
        """Return a catalog.

        Raises:
            SqlError: There is none of that name.
        """
        if name not in self._catalogs:
            raise SqlError(f"there is no catalog {quote_name(name)}{_nearest(name, self._catalogs)}", position)
        return self._catalogs[name]

    def databases(self, catalog: str | None = None) -> list[str]:
        """Return the names of the databases of a catalog, by default the current one, sorted."""
        return self.catalog(catalog or self.current_catalog).databases()

    def check_database(self, catalog: str, database: str, position: ScriptPosition | None = None) -> None:
        """Raise SqlError when there is no such database."""
        databases = self.catalog(catalog, position).databases()
        if database not in databases:
            name = f"{quote_name(catalog)}.{quote_name(database)}"
            raise SqlError(f"there is no database {name}{_nearest(database, databases)}", position)

    def use(self, catalog: str, database: str | None, position: ScriptPosition | None = None) -> None:
        """Change the current catalog and database; without a database, the catalog's only or first one.

        Raises:
            SqlError: One of them does not exist.
        """
        databases = self.catalog(catalog, position).databases()
        if database is None:
            database = databases[0] if databases else "default"
        else:
            self.check_database(catalog, database, position)
        self.current_catalog, self.current_database = catalog, database

    def names(self, catalog: str, database: str) -> list[str]:
        """Return the names of all tables and views of a database, the temporary ones included, sorted."""
        self.check_database(catalog, database)
        temporary = [name.parts[2] for name in self._temporary if name.parts[:2] == (catalog, database)]
        return sorted({*self._catalogs[catalog].names(database), *temporary})

    def temporary(self) -> list[Definition]:
        """Return the temporary tables and views."""
        return list(self._temporary.values())

    def find(self, name: Identifier) -> Definition | None:
        """Return a table or view by its whole name, a temporary one first; None when there is none."""
        if name in self._temporary:
            return self._temporary[name]
        catalog = self._catalogs.get(name.parts[0])
        return None if catalog is None else catalog.get(name)

    def get(self, name: Identifier) -> Definition:
        """Return a table or view by its whole name.

        Raises:
            SqlError: There is none; the message has the nearest name.
        """
        definition = self.find(name)
        if definition is None:
            catalog, database, table = name.parts
            self.check_database(catalog, database, name.position)
            known = self.names(catalog, database)
            raise SqlError(f"there is no table or view {shown(name)}{_nearest(table, known)}", name.position)
        return definition

    # Changes

    def create(self, definition: Definition, *, or_replace: bool = False, if_not_exists: bool = False) -> bool:
        """Add a table or view, and return whether it was added.

        Raises:
            SqlError: Its name is taken, or it cannot be kept.
        """
        name = definition.identifier
        existing = self._temporary.get(name) if definition.is_temporary else self._content(name).get(name.parts[2])
        if existing is not None and not or_replace:
            if if_not_exists:
                return False
            raise SqlError(
                f"{_kind_of(existing)} {shown(name)} exists already: write CREATE OR REPLACE, or IF NOT EXISTS",
                name.position,
            )
        self._put(definition)
        return True

    def replace(self, definition: Definition) -> None:
        """Put a changed definition in place of the one that has its name."""
        self._put(definition)

    def rename(self, definition: Definition, renamed: Definition) -> None:
        """Put a definition in place of the one that has the old name.

        Raises:
            SqlError: The new name is taken.
        """
        self.create(renamed)
        self._remove(definition)

    def drop(self, definition: Definition) -> None:
        """Remove a table or view."""
        self._remove(definition)

    def create_database(self, name: Identifier, comment: str | None, *, if_not_exists: bool) -> None:
        """Add a database.

        Raises:
            SqlError: It exists, or its catalog does not, or cannot have it.
        """
        catalog, database = (self.current_catalog, *name.parts)[-2:]
        content = self._defined(catalog, name.position).content
        if database in content:
            if if_not_exists:
                return
            raise SqlError(f"database {shown(name)} exists already", name.position)
        content[database] = CatalogDatabase(comment)
        if self._kept_definitions is not None:
            self._kept_definitions.save_database(catalog, database, comment)

    def drop_database(self, name: Identifier, *, if_exists: bool, is_cascade: bool) -> None:
        """Remove a database.

        Raises:
            SqlError: It does not exist, is the current one, or has tables and is_cascade is false.
        """
        catalog, database = (self.current_catalog, *name.parts)[-2:]
        if if_exists and database not in self.databases(catalog):
            return
        self.check_database(catalog, database, name.position)
        if (catalog, database) == (self.current_catalog, self.current_database):
            raise SqlError(f"database {shown(name)} is the current one: USE another one first", name.position)
        content = self._defined(catalog, name.position).content
        if content[database].objects and not is_cascade:
            raise SqlError(f"database {shown(name)} has tables: write CASCADE to drop them too", name.position)
        del content[database]
        if self._kept_definitions is not None:
            self._kept_definitions.delete((catalog, database))

    def create_catalog(self, statement: CreateCatalog) -> None:
        """Add a catalog: ``'type' = 'generic_in_memory'``, or the name of a catalog plugin.

        Raises:
            SqlError: It exists already, or its type is missing.
            UnknownPluginError: There is no plugin of that name.
            OptionsError: Its options are invalid.
        """
        if statement.name in self._catalogs:
            if statement.if_not_exists:
                return
            raise SqlError(f"catalog {quote_name(statement.name)} exists already", statement.position)
        if self._kept_definitions is not None:
            self._kept_definitions.check_secrets(
                f"catalog {quote_name(statement.name)}", statement.options, statement.position
            )
        self._catalogs[statement.name] = self._open(statement)
        if self._kept_definitions is not None:
            self._kept_definitions.save_catalog(statement)

    def drop_catalog(self, name: str, *, if_exists: bool, position: ScriptPosition | None = None) -> None:
        """Remove a catalog.

        Raises:
            SqlError: It does not exist, or is the current one or the one of the start.
        """
        if if_exists and name not in self._catalogs:
            return
        self.catalog(name, position)
        if name in {self.current_catalog, self._built_in}:
            which = "the current one: USE CATALOG another one first" if name == self.current_catalog else "built in"
            raise SqlError(f"catalog {quote_name(name)} is {which}", position)
        del self._catalogs[name]
        if self._kept_definitions is not None:
            self._kept_definitions.delete((name,))

    # Inside

    def _open(self, statement: CreateCatalog) -> SqlCatalog:
        options: Mapping[str, str] = statement.options
        kind = options.get("type")
        if kind is None:
            raise SqlError("the option 'type' of a catalog is required, such as 'type' = 'kafka'", statement.position)
        if kind == _IN_MEMORY:
            unknown = sorted(set(options) - {"type", "default-database"})
            if unknown:
                raise SqlError(f"a catalog of type {kind!r} has no option {unknown[0]!r}", statement.position)
            catalog = DefinedCatalog()
            catalog.content[options.get("default-database", "default")] = CatalogDatabase()
            return catalog
        resolved = self._references.resolve(quote_name(statement.name), options)
        plugin = plugin_manager().load(CATALOG, kind).from_options(resolved)
        return PluginCatalog.create(plugin, dict(options))

    def _defined(self, name: str, position: ScriptPosition | None) -> DefinedCatalog:
        catalog = self.catalog(name, position)
        if not isinstance(catalog, DefinedCatalog):
            raise SqlError(
                f"catalog {quote_name(name)} shows what its cluster has, and cannot be changed: create temporary "
                f"tables and views in it, or others in catalog {quote_name(self._built_in)}",
                position,
            )
        return catalog

    def _content(self, name: Identifier) -> dict[str, Definition]:
        catalog, database, _ = name.parts
        content = self._defined(catalog, name.position).content
        self.check_database(catalog, database, name.position)
        return content[database].objects

    def _put(self, definition: Definition) -> None:
        if definition.is_temporary or isinstance(definition, DataFrameView):
            catalog, database, _ = definition.identifier.parts
            self.check_database(catalog, database, definition.identifier.position)
            self._temporary[definition.identifier] = definition
            return
        objects = self._content(definition.identifier)
        if self._kept_definitions is not None:
            self._kept_definitions.save(definition)
        objects[definition.identifier.parts[2]] = definition

    def _remove(self, definition: Definition) -> None:
        name = definition.identifier
        if definition.is_temporary:
            del self._temporary[name]
            return
        del self._content(name)[name.parts[2]]
        if self._kept_definitions is not None:
            self._kept_definitions.delete(name.parts)

    def _load(self, kept_definitions: KeptDefinitions) -> None:
        for definition in kept_definitions.load():
            if isinstance(definition, CreateCatalog):
                self._catalogs[definition.name] = self._open(definition)
            elif isinstance(definition, CreateFunction):
                self.kept_functions.append(definition)
            elif isinstance(definition, tuple):
                catalog, database, comment = definition
                self._defined(catalog, None).content.setdefault(database, CatalogDatabase(comment))
            else:
                catalog, database, name = definition.identifier.parts
                databases = self._defined(catalog, None).content
                databases.setdefault(database, CatalogDatabase()).objects[name] = definition


def _kind_of(definition: Definition) -> str:
    from millrace_sql.definitions.model import TableDefinition

    return "table" if isinstance(definition, TableDefinition) else "view"


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = closest(name, names)
    if close is not None:
        return f"; did you mean {quote_name(close)}?"
    return f"; there are {', '.join(map(quote_name, names[:20]))}" if names else "; there is none yet"
