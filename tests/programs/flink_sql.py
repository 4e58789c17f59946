"""Run SQL in Flink: a request a line on standard input, an answer a line on standard output, both JSON.

A request has ``setup`` and ``query``, the statements before a query and the query. Its answer has ``rows``, the rows
that the query's changes leave, or ``error``. Arguments are the jars of connectors. It
runs where apache-flink is installed.
"""

import json
import sys
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal

from pyflink.table import EnvironmentSettings, TableEnvironment

_NUMBERS_AND_BYTES = (
    (float, "double", repr),
    (Decimal, "decimal", "{:f}".format),
    (bytes | bytearray, "bytes", lambda value: bytes(value).hex()),
)

# Python's own texts have seconds where Java leaves zeros out
_TIMES = {
    "LocalDate": (date.fromisoformat, "date"),
    "LocalDateTime": (datetime.fromisoformat, "datetime"),
    "Instant": (datetime.fromisoformat, "datetime"),
    "LocalTime": (time.fromisoformat, "time"),
}


def plain(value):
    """Return a value of Java's as JSON has it; numbers with a point are texts, which keep their digits."""
    if value is None or isinstance(value, bool | int | str):
        return value
    for type_, name, text in _NUMBERS_AND_BYTES:
        if isinstance(value, type_):
            return {name: text(value)}
    return plain_object(value, value.getClass().getSimpleName())


def plain_object(value, kind):
    """Return a value of one of Java's classes as JSON has it."""
    if kind in _TIMES:
        parse, name = _TIMES[kind]
        return {name: parse(value.toString().removesuffix("Z")).isoformat()}
    if kind == "Row":
        return [plain(value.getField(index)) for index in range(value.getArity())]
    if kind.endswith("[]"):
        return {"array": [plain(each) for each in value]}
    if kind.endswith("Map"):
        pairs = [[plain(entry.getKey()), plain(entry.getValue())] for entry in value.entrySet()]
        return {"map": sorted(pairs, key=json.dumps)}
    return {kind: value.toString()}


class UpsertsError(Exception):
    """A result of updates without their old rows, and without a key that says which rows they replace."""


def rows_left(result):
    """Return the rows that the changes of a result leave."""
    left, kinds = Counter(), set()
    changes = result._j_table_result.collect()
    try:
        while changes.hasNext():
            change = changes.next()
            kind = change.getKind().shortString()
            kinds.add(kind)
            left[json.dumps(plain(change))] += -1 if kind in ("-U", "-D") else 1
    finally:
        changes.close()
    if "+U" in kinds and "-U" not in kinds:
        raise UpsertsError
    return [json.loads(row) for row, count in left.items() for _ in range(count)]


def run(mode, setup, query):
    """Return the rows of a query in an environment of its own."""
    environment = new_environment(mode, sys.argv[1:])
    for statement in setup:
        environment.execute_sql(statement)
    return rows_left(environment.execute_sql(query))


def run_as_stream_or_batch(setup, query):
    """Return the rows of a query as a bounded stream; as a batch where streams give no table, or do not run it."""
    try:
        return run(EnvironmentSettings.in_streaming_mode(), setup, query)
    except Exception as error:
        try:
            return run(EnvironmentSettings.in_batch_mode(), setup, query)
        except Exception:
            raise error from None


def new_environment(mode, jars):
    """Return an environment of one task."""
    environment = TableEnvironment.create(mode)
    settings = {"pipeline.jars": ";".join(f"file://{jar}" for jar in jars), "parallelism.default": "1"}
    for name, value in settings.items():
        environment.get_config().set(name, value)
    return environment


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"rows": run_as_stream_or_batch(request["setup"], request["query"])}
    except Exception as error:
        answer = {"error": "; ".join(line for line in str(error).splitlines() if not line.startswith("\tat "))}
    print(json.dumps(answer), flush=True)
