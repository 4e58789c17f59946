"""The functions of a session that CREATE FUNCTION has defined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from millrace.options.suggestions import closest
from millrace_catalog.expressions.functions import FUNCTIONS, OWN_SYNTAX
from millrace_catalog.expressions.functions.aggregates import AGGREGATES
from millrace_catalog.expressions.functions.queries import QUERIES
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.user_functions.sources import FunctionError
from millrace_sql.definitions.kept import KeptDefinitions
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import shown
from millrace_sql.errors import SqlError
from millrace_sql.planner.user_functions import CatalogFunction
from millrace_sql.script_texts import Identifier
from millrace_sql.statements import CreateFunction, Drop

_PYTHON = "write LANGUAGE PYTHON, with a function of Python: AS 'module.function'"


@dataclass(frozen=True)
class _Defined:
    function: CatalogFunction
    is_temporary: bool


class FunctionDefinitions:
    """Look up and change functions. Their names are the same in any case of letters.

    Args:
        catalogs: Completes names by the current catalog and database.
        kept_definitions: Where functions are kept that are not temporary; None for the session only.
    """

    def __init__(self, catalogs: CatalogManager, kept_definitions: KeptDefinitions | None = None) -> None:
        self._catalogs = catalogs
        self._kept_definitions = kept_definitions
        self._system: dict[str, CatalogFunction] = {}
        self._defined: dict[tuple[str, ...], _Defined] = {}
        for statement in catalogs.kept_functions:
            self._defined[_key(statement.function)] = _Defined(_load(statement), is_temporary=False)

    def create(self, statement: CreateFunction) -> CatalogFunction | None:
        """Add a function, and return it; None where there is one of the name already and IF NOT EXISTS.

        Raises:
            SqlError: Its name is taken, it is no function of Python, or it cannot be loaded.
        """
        name, position = statement.function, statement.function.position
        if statement.language != "PYTHON":
            language = statement.language or "JAVA, which is meant where no LANGUAGE is named,"
            raise SqlError(f"a function in {language} cannot run here: {_PYTHON}", position)
        if statement.is_system and not statement.is_temporary:
            raise SqlError("a system function is temporary: write CREATE TEMPORARY SYSTEM FUNCTION", position)
        if self._has(statement):
            if statement.if_not_exists:
                return None
            raise SqlError(f"function {shown(name)} exists already: DROP it, or write IF NOT EXISTS", position)
        last = name.parts[-1]
        # Functions that only Spark has are not those of the reference, whose scripts give their names to others
        if not statement.is_system and last.upper() in (*FUNCTIONS, *AGGREGATES, *QUERIES, *OWN_SYNTAX):
            raise SqlError(
                f"{last} is a built-in function: choose another name, or CREATE TEMPORARY SYSTEM FUNCTION replaces it",
                position,
            )
        function = _load(statement)
        if statement.is_system:
            self._system[last.lower()] = function
            return function
        whole = self._catalogs.resolve(name)
        self._catalogs.check_database(whole.parts[0], whole.parts[1], position)
        if self._kept_definitions is not None and not statement.is_temporary:
            self._kept_definitions.save_function(whole, statement)
        self._defined[_key(whole)] = _Defined(function, statement.is_temporary)
        return function

    def drop(self, statement: Drop) -> None:
        """Remove a function.

        Raises:
            SqlError: There is none of that name and kind.
        """
        name = statement.name
        if statement.is_system:
            if self._system.pop(name.parts[-1].lower(), None) is None and not statement.if_exists:
                raise self._unknown(name)
            return
        whole = self._catalogs.resolve(name)
        defined = self._defined.get(_key(whole))
        if defined is None:
            if statement.if_exists:
                return
            raise self._unknown(name)
        if defined.is_temporary != statement.is_temporary:
            kind = "DROP TEMPORARY FUNCTION" if defined.is_temporary else "DROP FUNCTION"
            raise SqlError(f"{shown(name)} is another kind of function: write {kind}", name.position)
        del self._defined[_key(whole)]
        if self._kept_definitions is not None and not defined.is_temporary:
            self._kept_definitions.delete_function(whole)

    def find(self, parts: tuple[str, ...]) -> CatalogFunction | None:
        """Return a function by its name, as a query writes it; None for another name."""
        if len(parts) == 1 and parts[0].lower() in self._system:
            return self._system[parts[0].lower()]
        if len(parts) > 3:
            return None
        defined = self._defined.get(_key(self._catalogs.resolve(Identifier(parts))))
        return None if defined is None else defined.function

    def names(self) -> list[str]:
        """Return the names of the functions that queries can call without a catalog and database, sorted."""
        here = (self._catalogs.current_catalog, self._catalogs.current_database)
        return sorted({*self._system, *(name for *database, name in self._defined if tuple(database) == here)})

    def functions(self) -> Iterator[CatalogFunction]:
        """Yield all functions."""
        yield from self._system.values()
        yield from (defined.function for defined in self._defined.values())

    def _has(self, statement: CreateFunction) -> bool:
        if statement.is_system:
            return statement.function.parts[-1].lower() in self._system
        return _key(self._catalogs.resolve(statement.function)) in self._defined

    def _unknown(self, name: Identifier) -> SqlError:
        close = closest(name.parts[-1].lower(), self.names())
        hint = f"; did you mean {quote_name(close)}?" if close else "; SHOW USER FUNCTIONS lists them"
        return SqlError(f"there is no function {shown(name)}{hint}", name.position)


def _load(statement: CreateFunction) -> CatalogFunction:
    try:
        return CatalogFunction.of(shown(statement.function), statement.path)
    except FunctionError as error:
        name = shown(statement.function)
        raise SqlError(f"function {name}, {statement.path!r}: {error}", statement.function.position) from error


def _key(name: Identifier) -> tuple[str, ...]:
    *database, function = name.parts
    return (*database, function.lower())
