"""Catalogs: databases of tables and views that were created here, and catalogs of plugins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from millrace.contracts import Catalog
from millrace.errors import UnknownTopicError
from millrace.options.secrets import Properties
from millrace_sql.definitions.model import CONNECTOR, Definition, TableDefinition
from millrace_sql.parser import parse
from millrace_sql.script_texts import Identifier
from millrace_sql.statements import CreateTable

_DATABASE_OPTION = "default-database"


class SqlCatalog(ABC):
    """A catalog, as statements see it."""

    is_read_only = False
    """True when statements cannot change it."""

    @abstractmethod
    def databases(self) -> list[str]:
        """Return the names of its databases, sorted."""

    @abstractmethod
    def names(self, database: str) -> list[str]:
        """Return the names of the tables and views of a database, sorted."""

    @abstractmethod
    def get(self, identifier: Identifier) -> Definition | None:
        """Return a table or view by its whole name; None when there is none."""


@dataclass
class CatalogDatabase:
    """A database.

    Attributes:
        comment: Its comment.
        objects: Its tables and views, by name.
    """

    comment: str | None = None
    objects: dict[str, Definition] = field(default_factory=dict)


class DefinedCatalog(SqlCatalog):
    """A catalog of tables and views that statements have created.

    Attributes:
        content: Its databases, by name.
    """

    def __init__(self) -> None:
        self.content: dict[str, CatalogDatabase] = {}

    def databases(self) -> list[str]:
        """Return the names of its databases, sorted."""
        return sorted(self.content)

    def names(self, database: str) -> list[str]:
        """Return the names of the tables and views of a database, sorted."""
        return sorted(self.content[database].objects) if database in self.content else []

    def get(self, identifier: Identifier) -> Definition | None:
        """Return a table or view; None when there is none."""
        _, database, name = identifier.parts
        return self.content[database].objects.get(name) if database in self.content else None


class PluginCatalog(SqlCatalog):
    """A catalog of a plugin, such as that of Kafka's topics; it has one database.

    Args:
        catalog: The catalog.
        database: The name of its database.
    """

    is_read_only = True

    def __init__(self, catalog: Catalog, database: str) -> None:
        self._catalog = catalog
        self._database = database

    @classmethod
    def create(cls, catalog: Catalog, options: dict[str, str]) -> PluginCatalog:
        """Make the catalog of a plugin; its database is named by the plugin, else by ``default-database``."""
        named = getattr(catalog, "database", None)
        return cls(catalog, str(named or options.get(_DATABASE_OPTION, "default")))

    def databases(self) -> list[str]:
        """Return the name of its database."""
        return [self._database]

    def names(self, database: str) -> list[str]:
        """Return the names of its tables, sorted."""
        return self._catalog.list_tables() if database == self._database else []

    def get(self, identifier: Identifier) -> Definition | None:
        """Return a table with the columns that the catalog finds now; None when there is none."""
        _, database, name = identifier.parts
        if database != self._database:
            return None
        try:
            table = self._catalog.table(name)
        except UnknownTopicError:
            return None
        # The statement of a table has its columns as SQL writes them, and its options have what the statement hides
        (statement,) = parse(table.ddl())
        if not isinstance(statement, CreateTable):
            raise TypeError(f"expected a catalog's ddl() to be CREATE TABLE, not {type(statement).__name__}")
        options = {**statement.options, **{k: v for k, v in table.options.items() if k != "metadata.columns"}}
        definition = TableDefinition(
            identifier,
            statement.columns,
            statement.primary_key,
            statement.watermark,
            statement.comment,
            statement.partition_keys,
        )
        return replace(definition, options=Properties({CONNECTOR: "kafka", **options}))
