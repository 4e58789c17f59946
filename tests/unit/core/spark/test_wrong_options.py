"""Wrong options, as the data source tells them and a terminal shows them."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from millrace.api.tracebacks import FULL_TRACEBACKS, short_traceback
from millrace.errors import MillraceError
from pyspark_millrace import DefaultSource
from support.mistakes import WrongOptions, options, options_of
from support.mistakes.all import ALL, MOST_LINES

TYPES = {"INT": IntegerType(), "STRING": StringType()}
OF_SPARK = ["columns of no type"]
"""Told by Spark's parser, which is in its JVM."""


def test_there_are_a_hundred_mistakes() -> None:
    assert len({mistake.name for mistake in ALL}) == len(ALL) >= 100


@pytest.mark.parametrize(
    "wrong", [each for each in options.ALL if each.name not in OF_SPARK], ids=lambda wrong: wrong.name
)
def test_a_wrong_option_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, wrong: WrongOptions) -> None:
    monkeypatch.delenv(FULL_TRACEBACKS, raising=False)
    # Nobody listens there, and nobody is asked
    given = {"properties.bootstrap.servers": "127.0.0.1:1", "scan.startup.mode": "earliest-offset"}
    given |= options_of(wrong.options)
    with pytest.raises(MillraceError) as raised:
        read({name: value for name, value in given.items() if value}, wrong.schema)
    failure = raised.value
    error = f"{type(failure).__module__}.{type(failure).__qualname__}: {failure}"
    of_spark = AnalysisException(f"[PYTHON_DATA_SOURCE_ERROR] Failed to create instance: {error}\n SQLSTATE: 38000")

    lines = short_traceback(of_spark)

    assert lines is not None
    text = "\n".join(lines)
    assert not [part for part in wrong.says if part not in text], text
    assert len(lines) <= MOST_LINES


def read(given: dict[str, str], schema: str | None) -> None:
    """Plan a read as Spark does."""
    source = DefaultSource(given)
    columns = [column.split() for column in schema.split(", ")] if schema else []
    declared = StructType([StructField(name, TYPES[type_]) for name, type_ in columns])
    if not schema:
        source.schema()
    source.reader(declared).partitions()
