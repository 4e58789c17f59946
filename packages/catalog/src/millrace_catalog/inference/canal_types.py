"""Column types of the JDBC codes in Canal's ``sqlType`` and of the MySQL types in its ``mysqlType``."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    ScalarType,
    binary,
    char,
    decimal,
    time,
    timestamp,
    timestamp_ltz,
    varbinary,
    varchar,
)

_JDBC_DECIMAL = decimal(38, 18)
_JDBC_TYPES: dict[int, ScalarType] = {
    -7: BOOLEAN,
    16: BOOLEAN,
    -6: TINYINT,
    5: SMALLINT,
    4: INT,
    -5: BIGINT,
    3: _JDBC_DECIMAL,
    2: _JDBC_DECIMAL,
    7: FLOAT,
    6: FLOAT,
    8: DOUBLE,
    -2: BYTES,
    -3: BYTES,
    -4: BYTES,
    2004: BYTES,
    91: DATE,
    92: time(),
    93: timestamp(),
}

_SIZE = r"(?:\(\s*(?P<size>\d+)\s*(?:,\s*(?P<scale>\d+)\s*)?\))?"
_MYSQL_TYPE = re.compile(
    rf"\s*(?P<first>unsigned\s+)?(?P<name>[a-z0-9]+)\s*(?P<sign>(?:unsigned\s*|zerofill\s*)*){_SIZE}(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A type of MySQL; TiCDC writes the sign of some before their size, as in ``decimal unsigned(10,4)``."""

_BIGINT_BITS = 63

_PLAIN: dict[str, ScalarType] = {
    "BOOL": BOOLEAN,
    "BOOLEAN": BOOLEAN,
    "DOUBLE": DOUBLE,
    "REAL": DOUBLE,
    "DATE": DATE,
    "YEAR": INT,
    "SERIAL": decimal(20),  # BIGINT UNSIGNED
    "TINYBLOB": BYTES,
    "BLOB": BYTES,
    "MEDIUMBLOB": BYTES,
    "LONGBLOB": BYTES,
}
_INTEGERS: dict[str, tuple[ScalarType, ScalarType]] = {
    "TINYINT": (TINYINT, SMALLINT),
    "SMALLINT": (SMALLINT, INT),
    "MEDIUMINT": (INT, INT),
    "INT": (INT, BIGINT),
    "INTEGER": (INT, BIGINT),
    "BIGINT": (BIGINT, decimal(20)),
}
"""Types of signed and of unsigned integers."""

_SIZED: dict[str, Callable[[int], ScalarType]] = {
    "CHAR": char,
    "VARCHAR": varchar,
    "BINARY": binary,
    "VARBINARY": varbinary,
}
_TIMED: dict[str, Callable[[int], ScalarType]] = {"TIME": time, "DATETIME": timestamp}
_DECIMALS = ("DECIMAL", "NUMERIC", "DEC", "FIXED")


def jdbc_type(code: int) -> ScalarType:
    """Return the type of a code of ``java.sql.Types``; STRING for text and for codes the reference does not list."""
    return _JDBC_TYPES.get(code, STRING)


def mysql_type_reader(*, timestamp_as_datetime: bool, tinyint1_as_boolean: bool) -> Callable[[str], ScalarType]:
    """Return a function from a MySQL type such as ``bigint(20) unsigned`` to its type; STRING for text and the unknown.

    Args:
        timestamp_as_datetime: Whether TIMESTAMP is a TIMESTAMP, else a TIMESTAMP_LTZ.
        tinyint1_as_boolean: Whether TINYINT(1) is a BOOLEAN.
    """
    timed = {**_TIMED, "TIMESTAMP": timestamp if timestamp_as_datetime else timestamp_ltz}

    # Each message declares the types of its table
    @functools.lru_cache(maxsize=4096)
    def read(text: str) -> ScalarType:
        match = _MYSQL_TYPE.fullmatch(text)
        if match is None:
            return STRING
        name = match["name"].upper()
        size, scale = (None if digits is None else int(digits[:10]) for digits in match.group("size", "scale"))
        attributes = " ".join(text or "" for text in match.group("first", "sign", "rest")).upper()
        is_unsigned = "UNSIGNED" in attributes or "ZEROFILL" in attributes
        if name == "TINYINT" and size == 1 and tinyint1_as_boolean and not is_unsigned:
            return BOOLEAN
        if name in _INTEGERS:
            return _INTEGERS[name][is_unsigned]
        if name in timed:
            return timed[name](size or 0)
        return _sized_type(name, size, scale)

    return read


def _sized_type(name: str, size: int | None, scale: int | None) -> ScalarType:
    try:
        if name in _SIZED:
            return _SIZED[name](1 if size is None else size)
        if name in _DECIMALS:
            return decimal(10 if size is None else size, scale or 0)
        if name == "BIT":
            return _bit_type(size or 1)
    except ValueError:
        return STRING
    if name == "FLOAT":
        return FLOAT if size is None else DOUBLE  # FLOAT(n) may have more than four bytes
    return _PLAIN.get(name, STRING)


def _bit_type(size: int) -> ScalarType:
    if size == 1:
        return BOOLEAN
    return BIGINT if size <= _BIGINT_BITS else decimal(20)  # Canal writes the bits as a number
