"""User-defined functions, loaded and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from millrace.errors import SchemaError
from millrace_catalog.types import DataType
from millrace_catalog.types.arrow import to_arrow
from millrace_catalog.types.widen import deeply_nullable
from millrace_catalog.user_functions.signature import Signature
from millrace_catalog.user_functions.sources import FunctionError, FunctionSource
from millrace_cdc.definitions.functions import FunctionDefinition


def source_of(definition: FunctionDefinition) -> FunctionSource:
    """Find the code of a definition.

    Raises:
        FunctionError: It says not where, or the file cannot be read.
    """
    if (definition.classpath is None) == (definition.code is None):
        raise FunctionError("expected one of 'classpath' and 'python-code'", "name")
    if definition.code is not None:
        return FunctionSource.of_code(definition.name, definition.code)
    return FunctionSource.named(definition.classpath or "", definition.folder)


@dataclass(frozen=True)
class UserFunction:
    """A user-defined function.

    Attributes:
        name: The name by which expressions call it.
        source: Its code.
        options: The values of its options.
        result: The type of its results.
    """

    name: str
    source: FunctionSource
    options: tuple[tuple[str, Any], ...]
    result: DataType

    @classmethod
    def of(cls, definition: FunctionDefinition) -> UserFunction:
        """Load a function, which runs its module.

        Args:
            definition: The definition.

        Raises:
            FunctionError: It cannot be loaded, or its signature does not go with the definition.
        """
        source = source_of(definition)
        signature = Signature(source.load())
        options = tuple(signature.options(dict(definition.options)).items())
        result = deeply_nullable(definition.return_type or signature.result)
        try:
            to_arrow(result)
        except SchemaError as error:
            raise FunctionError(f"functions cannot return a value of {result}: {error}", "return-type") from error
        return cls(definition.name, source, options, result)

    @property
    def signature(self) -> Signature:
        """The signature of the function."""
        return Signature(self.source.load())


def by_name(functions: Iterable[UserFunction]) -> dict[str, UserFunction]:
    """Return functions by their names in upper case."""
    return {function.name.upper(): function for function in functions}
