"""Write docs/client-properties.md from the table that translates Java's properties."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from millrace.kafka.java_properties import JAVA_PROPERTIES, Handling, Ignored, JavaClass, OtherMeans, Passed
from millrace.kafka.property_translation import CONNECTOR_PROPERTIES

PAGE = Path(__file__).with_name("client-properties.md")

_NAMES = Path(__file__).parents[1] / "tests/support/java_properties.json"

_HEAD = """# Client properties

Generated from the table that the translation uses, by `tox -e docs`.

Set properties of the Kafka client as `properties.<name>`, with the names of Kafka's Java client. `kafka.<name>`, as in
Spark's own connector, means the same, except for the few names in [coming from Spark's connector](from-spark-kafka.md).

The client is librdkafka, which runs in the Python process without a JVM. The table lists all properties of Java's
consumer and producer from Kafka 2.8 to 4.2 and how each is handled:

- *passed on*: librdkafka has a property with this name. A number that librdkafka does not accept becomes the nearest
  valid one, with a warning.
- *becomes*: librdkafka has this property with another name.
- *millrace*: millrace implements the property.
- *ignored*: the property has no effect, for the reason given. The query runs, and the logger `millrace.options` logs a
  warning, unless the value makes no difference.
- *refused*: the property names a Java class that affects rows or security. Without a JVM, the class cannot run, and the
  query would not behave as intended. Kafka's own classes are accepted.

As in Java, producer properties have no effect on a read, and consumer properties have none on a write. librdkafka's own
names, such as `queued.max.messages.kbytes`, are passed on unchanged. Your properties override millrace's defaults.

## Idempotence

A producer is idempotent by default: a retried request neither repeats nor reorders records. `acks` = `0` or `1`,
`retries` = `0`, and more than 5 requests in flight turn idempotence off, as in the Java client, with a warning. They
are an error if you require idempotence or `exactly-once`.

With `acks` = `1`, a record is lost if its broker fails before other brokers have copied it; with `0`, also if it never
arrives. The brokers' `log.flush.*` have a similar effect: by default a broker responds before a record is on its disk,
and relies on the other replicas.

## All properties

| property | client | handling |
|---|---|---|
"""


_OF_CONNECTORS = """## Properties of Flink's connectors

Flink's source overrides one property, and Huawei's connectors have additional ones for Kerberos:

| property | handling |
|---|---|
"""


def render() -> str:
    """Return the page's text."""
    names = json.loads(_NAMES.read_text())
    of_java = [
        (name, _clients(names[name]), handling) for name, handling in sorted(JAVA_PROPERTIES.items(), key=itemgetter(0))
    ]
    of_connectors = [(name, "", handling) for name, handling in CONNECTOR_PROPERTIES.items()]
    return _HEAD + "".join(_rows(of_java)) + "\n" + _OF_CONNECTORS + "".join(_rows(of_connectors))


def _rows(properties: Iterable[tuple[str, str, Handling]]) -> Iterator[str]:
    """Yield the rows of a table: one for all properties of the same clients that are handled in the same way."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for name, clients, handling in properties:
        grouped.setdefault((clients, _outcome(name, handling)), []).append(f"`{name}`")
    for (clients, outcome), names in grouped.items():
        cells = (", ".join(names), clients, outcome)
        yield f"| {' | '.join(cell for cell in cells if cell)} |\n"


def _clients(entry: dict[str, list[str]]) -> str:
    return ", ".join(client for client in ("consumer", "producer") if client in entry)


def _outcome(name: str, handling: Handling) -> str:
    match handling:
        case Passed(names=names, note=note):
            outcome = f"becomes `{names[0]}`" if names and names != (name,) else "passed on"
            return f"{outcome}; {note}" if note else outcome
        case OtherMeans(means=means):
            return f"millrace: {means}"
        case Ignored(reason=reason, fitting=fitting):
            values = " or ".join(f"`{value}`" for value in sorted(fitting) if value)
            return f"ignored: {_quoted(reason)}{f'; no warning for {values}' if values else ''}"
        case JavaClass(reason=reason, known=known):
            exception = "except for Kafka's own class" if known else "unless empty"
            return f"refused, {exception}: {_quoted(reason)}"


def _quoted(reason: str) -> str:
    """Format the names of options and properties as code."""
    return re.sub(r"'([\w.-]+)'", r"`\1`", reason)
