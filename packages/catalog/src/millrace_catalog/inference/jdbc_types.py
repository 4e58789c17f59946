"""Types by JDBC's codes, as Canal's sqlType tells them."""

from __future__ import annotations

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
    Scalar,
    decimal,
    time,
    timestamp,
)

_DECIMAL = decimal(38, 18)
_BY_CODE: dict[int, Scalar] = {
    -7: BOOLEAN,
    16: BOOLEAN,
    -6: TINYINT,
    5: SMALLINT,
    4: INT,
    -5: BIGINT,
    3: _DECIMAL,
    2: _DECIMAL,
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


def type_of_code(code: int) -> Scalar:
    """The type of a JDBC code; STRING for text and for all that is not in the reference's table."""
    return _BY_CODE.get(code, STRING)
