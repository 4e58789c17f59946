"""Values of database columns as Canal writes them: numbers for BOOLEAN, and bytes as text in ISO-8859-1.

A message of Canal declares the database types of its columns, by which binary ones are known. Messages without such
types, as Flink and millrace write them, hold bytes in base64.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import MalformedMessageError
from millrace_formats.json.msgspec_types import NULL
from millrace_formats.json.parser import Number, parse
from millrace_formats.shared import java_text

DECLARED_TYPES = [(name, msgspec.Raw, NULL) for name in ("sqlType", "mysqlType")]
"""The fields of a message's class that hold the declared types."""

_SQL_BINARY = {"-2", "-3", "-4", "2004"}
"""The codes of BINARY, VARBINARY, LONGVARBINARY and BLOB in ``java.sql.Types``."""

_MYSQL_BINARY = re.compile(r"\s*(?:(?:var)?binary|(?:tiny|medium|long)?blob)\b", re.IGNORECASE)
_TRUE_NUMBER = re.compile("[+-]?0*[1-9][0-9]*")


class DatabaseValues:
    """Replace values of Canal's rows by those that json reads, in parsed messages.

    Args:
        fields: The columns.
    """

    def __init__(self, fields: Iterable[pa.Field]) -> None:
        types = {field.name: field.type for field in fields}
        self._booleans = [name for name, type_ in types.items() if pt.is_boolean(type_)]
        self._binary = {name for name, type_ in types.items() if pt.is_binary(type_)}

    def replace(self, message: dict[str, Any]) -> None:
        """Replace the values in a message's rows, in place."""
        declared = _binary_columns(message.get("sqlType"), message.get("mysqlType")) if self._binary else frozenset()
        binary = self._binary & declared
        for rows in (message.get("data"), message.get("old")):
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict):
                    self._replace_in(row, binary)

    def _replace_in(self, row: dict[str, Any], binary: set[str]) -> None:
        for name in self._booleans:
            value = row.get(name)
            if isinstance(value, str) and _TRUE_NUMBER.fullmatch(java_text.trim(value)):
                row[name] = True
        for name in binary & row.keys():
            value = row[name]
            if isinstance(value, str) and not isinstance(value, Number) and _is_latin_1(value):
                row[name] = base64.b64encode(value.encode("latin-1")).decode()


def declared_binary(message: Any) -> frozenset[str] | None:
    """Return the columns that a message read by msgspec declares to be binary; None where only `parse` can tell."""
    return _declared_binary(bytes(message.sqlType), bytes(message.mysqlType))


def to_bytes(text: str | None, is_declared_binary: bool) -> bytes | None:
    """Convert the text of a value; ValueError when it holds no bytes."""
    if text is None:
        return None
    return text.encode("latin-1") if is_declared_binary else java_text.parse_base64(text)


@functools.lru_cache(maxsize=256)
def _declared_binary(sql_types: bytes, mysql_types: bytes) -> frozenset[str] | None:
    # The messages of a table declare the same types
    try:
        return _binary_columns(parse(sql_types), parse(mysql_types))
    except (MalformedMessageError, RecursionError):
        return None


def _binary_columns(sql_types: Any, mysql_types: Any) -> frozenset[str]:
    names: set[str] = set()
    if isinstance(sql_types, dict):
        names |= {name for name, code in sql_types.items() if isinstance(code, Number) and code in _SQL_BINARY}
    if isinstance(mysql_types, dict):
        names |= {name for name, text in mysql_types.items() if isinstance(text, str) and _MYSQL_BINARY.match(text)}
    return frozenset(names)


def _is_latin_1(text: str) -> bool:
    return not text or max(text) <= "\xff"
