"""Signatures of user-defined functions: the types that their annotations name."""

from __future__ import annotations

import datetime
import inspect
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from millrace.errors import SchemaError
from millrace_catalog.types import BOOLEAN, BYTES, DATE, STRING, ArrayType, DataType, MapType, RowType, model
from millrace_catalog.types.arrow import to_arrow
from millrace_catalog.user_functions.declared import declared_result, rows_of
from millrace_catalog.user_functions.sources import FunctionError

_ITERATORS = (abc.Generator, abc.Iterable, abc.Iterator)
_INTEGERS = frozenset(("TINYINT", "SMALLINT", "INT", "BIGINT"))
_TEXTS = frozenset(("CHAR", "VARCHAR", "STRING"))
_KINDS: dict[type, frozenset[str]] = {
    bool: frozenset(("BOOLEAN",)),
    int: _INTEGERS,
    float: frozenset(("FLOAT", "DOUBLE")),
    Decimal: frozenset(("DECIMAL",)),
    str: _TEXTS,
    bytes: frozenset(("BINARY", "VARBINARY")),
    datetime.date: frozenset(("DATE",)),
    datetime.datetime: frozenset(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_TZ")),
    datetime.time: frozenset(("TIME",)),
}
"""The kinds of types whose values are of a class of Python."""

_RESULTS: dict[type, DataType] = {
    bool: BOOLEAN,
    int: model.BIGINT,
    float: model.DOUBLE,
    str: STRING,
    bytes: BYTES,
    datetime.date: DATE,
    datetime.datetime: model.timestamp(),
    datetime.time: model.time(6),
}
_ARROW_RESULTS = {
    type(pa.nulls(0, to_arrow(type_))): type_
    for type_ in (*_RESULTS.values(), model.TINYINT, model.SMALLINT, model.INT, model.FLOAT)
    if type_ not in (model.timestamp(), model.time(6))
}
_CONVERSIONS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
}


@dataclass(frozen=True)
class Parameter:
    """An argument that a function takes: its name, and the class that its annotation names, or None for any."""

    name: str
    annotation: Any
    is_required: bool
    is_repeated: bool


class Signature:
    """The signature of a function.

    Parameters that stand behind ``*`` are options, all others are arguments.

    Args:
        function: The function.
        advice: What gives results a type that annotations do not, for errors.

    Attributes:
        parameters: Its parameters that take arguments.
        is_arrow: Whether it takes arrays of Arrow: an annotation of a parameter says so.
        is_table: Whether a call returns rows: its result is annotated as an iterator, or a decorator says so.

    Raises:
        FunctionError: Some parameters take arrays of Arrow, but not all.
    """

    def __init__(self, function: Callable[..., Any], advice: str = "give 'return-type'") -> None:
        self._advice = advice
        self._declared = declared_result(function)
        try:
            self._hints = typing.get_type_hints(function)
            parameters = inspect.signature(function).parameters.values()
        except (NameError, TypeError, ValueError) as error:
            raise FunctionError(f"its signature cannot be read: {error}") from error
        self._options = {
            parameter.name: parameter for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        self.parameters = tuple(
            Parameter(
                parameter.name,
                _class_of(self._hints.get(parameter.name, Any)),
                parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL,
                parameter.kind is inspect.Parameter.VAR_POSITIONAL,
            )
            for parameter in parameters
            if parameter.kind not in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        )
        arrays = {_is_array(parameter.annotation) for parameter in self.parameters}
        self.is_arrow = arrays == {True}
        self.is_table = self._declared[1] if self._declared else _is_iterator(self._hints.get("return"))
        if len(arrays) > 1:
            raise FunctionError("expected all of its parameters to be arrays of Arrow, or none of them")

    @property
    def result(self) -> DataType:
        """The type that its annotation names.

        Raises:
            FunctionError: There is none, or it says too little.
        """
        if self._declared is not None:
            return self._declared[0]
        if "return" not in self._hints:
            raise FunctionError(f"its results have no type: annotate the function, or {self._advice}")
        hint = self._hints["return"]
        type_ = _rows_type(hint) if self.is_table else _result_type(hint)
        if type_ is None:
            shown = getattr(hint, "__name__", hint)
            raise FunctionError(f"its annotation {shown} names no type of SQL: {self._advice}")
        return type_

    def options(self, options: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of options, as the function takes them.

        Raises:
            FunctionError: One is unknown, missing or wrong.
        """
        for name in options:
            if name not in self._options:
                known = f"; it has {', '.join(self._options)}" if self._options else ": it has no parameter after '*'"
                raise FunctionError(f"the function has no option {name!r}{known}", "options")
        for name, parameter in self._options.items():
            if name not in options and parameter.default is inspect.Parameter.empty:
                raise FunctionError(f"the function needs the option {name!r}", "options")
        return {name: self._option(name, text) for name, text in options.items()}

    def check(self, arguments: tuple[DataType, ...]) -> None:
        """Check the types of the arguments of a call.

        Raises:
            FunctionError: There are too few or too many, or one has another type than its annotation says.
        """
        required = sum(parameter.is_required for parameter in self.parameters)
        is_open = any(parameter.is_repeated for parameter in self.parameters)
        if len(arguments) < required or (len(arguments) > len(self.parameters) and not is_open):
            names = ", ".join(parameter.name for parameter in self.parameters)
            raise FunctionError(f"it takes the arguments ({names}), not {len(arguments)} of them")
        for number, type_ in enumerate(arguments):
            parameter = self.parameters[min(number, len(self.parameters) - 1)]
            _check_arrow(parameter.name, type_)
            if not _takes(parameter.annotation, type_):
                shown = getattr(parameter.annotation, "__name__", parameter.annotation)
                raise FunctionError(f"its argument {parameter.name} is {shown}, but the expression is {type_}")

    def _option(self, name: str, text: str) -> Any:
        class_ = _class_of(self._hints.get(name, str))
        try:
            return _CONVERSIONS[class_](text)
        except KeyError:
            raise FunctionError(f"option {name!r}: expected true or false, found {text!r}", "options") from None
        except ValueError:
            raise FunctionError(f"option {name!r}: {text!r} is no {class_.__name__}", "options") from None


def _class_of(hint: Any) -> Any:
    """Return the class of an annotation, without its parameters and without None; None for any."""
    if hint is Any or hint is object:
        return None
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [type_ for type_ in typing.get_args(hint) if type_ is not type(None)]
        return _class_of(rest[0]) if len(rest) == 1 else None
    return typing.get_origin(hint) or hint


def _is_array(class_: Any) -> bool:
    return isinstance(class_, type) and issubclass(class_, pa.Array)


def _takes(class_: Any, type_: DataType) -> bool:
    if class_ is None or _is_null(type_):
        return True
    if _is_array(class_):
        return isinstance(pa.nulls(0, to_arrow(type_)), class_)
    if isinstance(type_, ArrayType):
        return class_ is list
    if isinstance(type_, MapType | RowType):
        return class_ is dict
    return type_.kind in _KINDS.get(class_, frozenset())


def _is_null(type_: DataType) -> bool:
    return not isinstance(type_, ArrayType | MapType | RowType) and type_.kind == "NULL"


def _check_arrow(name: str, type_: DataType) -> None:
    if _is_null(type_):
        return
    try:
        to_arrow(type_)
    except SchemaError:
        raise FunctionError(f"its argument {name} is {type_}, which functions do not take: cast it to STRING") from None


def _result_type(hint: Any) -> DataType | None:
    class_, arguments = _class_of(hint), typing.get_args(_without_none(hint))
    if class_ is list and len(arguments) == 1:
        element = _result_type(arguments[0])
        return None if element is None else ArrayType(element)
    if class_ is dict and len(arguments) == 2:
        key, value = map(_result_type, arguments)
        return None if key is None or value is None else MapType(model.with_nullability(key, False), value)
    return _RESULTS.get(class_) or _ARROW_RESULTS.get(class_)


def _is_iterator(hint: Any) -> bool:
    return typing.get_origin(hint) in _ITERATORS


def _rows_type(hint: Any) -> DataType | None:
    """Return the type of the rows that an iterator returns: those of tuples have several columns."""
    row = (*typing.get_args(hint), None)[0]
    columns = typing.get_args(row) if typing.get_origin(row) is tuple else (row,)
    types = [_result_type(column) for column in columns]
    return None if None in types else rows_of([type_ for type_ in types if type_ is not None])


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [type_ for type_ in typing.get_args(hint) if type_ is not type(None)]
        return rest[0] if len(rest) == 1 else hint
    return hint
