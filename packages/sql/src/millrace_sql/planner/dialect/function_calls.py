"""Calls of user-defined functions, by the names under which Spark knows them."""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.types import DataType
from millrace_catalog.user_functions.sources import FunctionError
from millrace_sql.planner.user_functions import CatalogFunction, FunctionLookup


class FunctionCallRewriter:
    """Rewrite calls of user-defined functions.

    Args:
        word: Returns the token at an index, in upper case, a quoted one as empty; empty behind the last one.
        name: Returns the text of the name at an index as it is written; None where no name is.
        closing: Returns the index of the token that closes what the token at an index opens.
        types: Returns the types of the arguments between two indices; None where they are not looked up yet.
        functions: Finds functions.
    """

    def __init__(
        self,
        word: Callable[[int], str],
        name: Callable[[int], str | None],
        closing: Callable[[int], int],
        types: Callable[[int, int], list[DataType | None]] | None,
        functions: FunctionLookup,
    ) -> None:
        self._word = word
        self._name = name
        self._closing = closing
        self._types = types
        self._functions = functions

    def rewrite(self, index: int) -> tuple[str, int] | None:
        """Return the name that replaces that of a function, and the index behind it; None for another token.

        Raises:
            ValueError: The function does not take the arguments, or returns rows where a value is expected.
        """
        if self._word(index - 1) == ".":
            return None
        parts, end = self._path(index)
        if not parts or self._word(end) != "(":
            return None
        function = self._functions(tuple(parts))
        if function is None:
            return None
        close = self._closing(end)
        is_table = [self._word(index - step) for step in (3, 2, 1)] == ["LATERAL", "TABLE", "("]
        if function.is_table and not is_table:
            raise ValueError(
                f"{function.name} is a table function: write JOIN LATERAL TABLE({function.name}(x)) ON TRUE"
            )
        if self._types is not None:
            _check(function, self._types(end + 1, close))
        # Spark gives a function the number of rows by an argument
        return (f"{function.spark_name}(0)", close + 1) if close == end + 1 else (function.spark_name, end)

    def _path(self, index: int) -> tuple[list[str], int]:
        parts: list[str] = []
        while (name := self._name(index)) is not None:
            parts.append(name[1:-1].replace("``", "`") if name.startswith("`") else name)
            if self._word(index + 1) != ".":
                return parts, index + 1
            index += 2
        return [], index


def _check(function: CatalogFunction, types: list[DataType | None]) -> None:
    """Check the arguments of a call; types that are not known fit."""
    signature = function.signature
    try:
        if all(type_ is not None for type_ in types):
            signature.check(tuple(type_ for type_ in types if type_ is not None))
    except FunctionError as error:
        raise ValueError(f"function {function.name}: {error}") from error
