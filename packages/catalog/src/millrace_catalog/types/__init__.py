"""The types of columns: their SQL text, and the least type that holds what two of them hold.

Nothing here knows of Kafka, JSON, Spark or Arrow; `millrace_catalog.types.spark` and `millrace_catalog.types.arrow`
convert.
"""

from millrace_catalog.types.model import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TINYINT,
    VARIANT,
    Array,
    Column,
    DataType,
    Map,
    Row,
    Scalar,
    binary,
    char,
    decimal,
    time,
    timestamp,
    timestamp_ltz,
    timestamp_tz,
    varbinary,
    varchar,
)
from millrace_catalog.types.parse import parse_schema, parse_type
from millrace_catalog.types.schema import Schema
from millrace_catalog.types.unknown import settled
from millrace_catalog.types.widen import least_common_type, widen_schemas, with_nullability

__all__ = [
    "BIGINT",
    "BOOLEAN",
    "BYTES",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "INT",
    "NULL",
    "SMALLINT",
    "STRING",
    "TINYINT",
    "VARIANT",
    "Array",
    "Column",
    "DataType",
    "Map",
    "Row",
    "Scalar",
    "Schema",
    "binary",
    "char",
    "decimal",
    "least_common_type",
    "parse_schema",
    "parse_type",
    "settled",
    "time",
    "timestamp",
    "timestamp_ltz",
    "timestamp_tz",
    "varbinary",
    "varchar",
    "widen_schemas",
    "with_nullability",
]
