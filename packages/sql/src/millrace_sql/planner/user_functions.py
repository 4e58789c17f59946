"""User-defined functions that queries call: what they return, and how Spark calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from millrace.errors import MessageError
from millrace_catalog.types import DataType
from millrace_catalog.types.spark import to_spark
from millrace_catalog.types.widen import deeply_nullable
from millrace_catalog.user_functions.calls import call_with_arrays, call_with_rows
from millrace_catalog.user_functions.signature import Signature
from millrace_catalog.user_functions.sources import FunctionSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "millrace_function_"
"""The beginning of the names under which Spark knows the functions."""

_ADVICE = "declare it by the decorator @udf(result_type='...') of millrace_sql"


@dataclass(frozen=True)
class CatalogFunction:
    """A function.

    Attributes:
        name: Its name, as users call it.
        source: Its code.
        result: The type of its results; of a table function the array of its rows.
        is_table: Whether it returns rows.
        is_arrow: Whether it takes arrays of Arrow.
    """

    name: str
    source: FunctionSource
    result: DataType
    is_table: bool
    is_arrow: bool

    @classmethod
    def of(cls, name: str, path: str) -> CatalogFunction:
        """Load a function, which runs its module.

        Args:
            name: Its name.
            path: ``module.function``, or ``file.py:function``.

        Raises:
            FunctionError: It cannot be loaded, or the types of its results are not known.
        """
        source = FunctionSource.named(path).with_code()
        signature = Signature(source.load(), _ADVICE)
        return cls(name, source, deeply_nullable(signature.result), signature.is_table, signature.is_arrow)

    @property
    def signature(self) -> Signature:
        """Signature of the function."""
        return Signature(self.source.load(), _ADVICE)

    @property
    def spark_name(self) -> str:
        """The name under which Spark knows it: another one for other code."""
        digest = hashlib.sha256(repr((self.source, str(self.result), self.is_table)).encode()).hexdigest()
        return f"{PREFIX}{digest[:12]}_{self.source.function.lower()}"

    def register(self, spark: SparkSession) -> None:
        """Let a session call it."""
        from pyspark.sql.functions import arrow_udf

        call = arrow_udf(_caller(self), to_spark(self.result))
        spark.udf.register(self.spark_name, call)


FunctionLookup = Callable[[tuple[str, ...]], CatalogFunction | None]
"""Finds a function by the parts of its name; None for a name that is not of one."""


def no_functions(_: tuple[str, ...]) -> None:
    """Find no function."""


def _caller(function: CatalogFunction) -> Any:
    """Return what Spark runs for arrays of arguments; a function without arguments gets a number of each row."""

    def call(*columns: pa.Array) -> pa.Array:
        code, count = function.source.load(), len(columns[0])
        arguments = columns if function.signature.parameters else ()

        def failed(_: int | None, reason: str) -> MessageError:
            return MessageError(f"function {function.name} fails: {reason}")

        if function.is_arrow:
            return call_with_arrays(code, function.result, arguments, count, failed)
        return call_with_rows(code, function.result, arguments, count, failed, returns_rows=function.is_table)

    return call
