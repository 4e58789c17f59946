"""Write docs/client-properties.md from the table that translates Java's properties."""

from __future__ import annotations

import json
import re
from operator import itemgetter
from pathlib import Path

from millrace.kafka.java_properties import JAVA_PROPERTIES, Handling, Ignored, JavaClass, OtherMeans, Passed
from millrace.kafka.property_translation import CONNECTOR_PROPERTIES

PAGE = Path(__file__).with_name("client-properties.md")

_NAMES = Path(__file__).parents[1] / "tests/support/java_properties.json"

_HEAD = """# Client properties

Generated from the table that the translation uses, by `tox -e docs`.

Give properties of the Kafka client as `properties.<name>`, under the name of Kafka's Java client. `kafka.<name>`, as in
Spark's own connector, means the same, except for the few names in [coming from Spark's connector](from-spark-kafka.md).

The client is librdkafka, which runs in Python's process without a JVM. The table has every property of Java's consumer
and producer from Kafka 2.8 to 4.2 and says how each is handled:

- *passed on*: librdkafka has it under the same name. A number beyond what librdkafka knows becomes the nearest one that
  it knows, with a warning.
- *becomes*: librdkafka has it under another name.
- *millrace*: millrace does what the property asks for.
- *ignored*: it has no effect, for the reason given. The query runs, and the logger `millrace.options` gets a warning,
  unless the value asks for what happens anyway.
- *refused*: the few properties that name Java classes which decide on the rows or on security. There is no JVM to run
  such a class, and without it the query would not do what you asked for. Kafka's own classes are accepted.

A property of producers has no effect on a read, nor one of consumers on a write, as in Java. librdkafka's own names,
such as `queued.max.messages.kbytes`, are passed on as they are. Your properties win over millrace's defaults.

## Idempotence

A producer is idempotent by default: a request that is sent again neither repeats nor reorders records. `acks` = `0` or
`1`, `retries` = `0`, and more than 5 requests in flight exclude that. As in Java's client they turn it off, and the log
says so; where you ask for idempotence or for `exactly-once`, they are refused.

With `acks` = `1` a record is lost when its broker fails before others have copied it, and with `0` also when it never
arrives. The brokers' `log.flush.*` have the same effect: by default a broker answers before its disk has a record, and
relies on the other replicas.

## All properties

| property | of | what happens here |
|---|---|---|
"""


_OF_CONNECTORS = """
## Properties of Flink's connectors

Flink's source overrides one property, and Huawei's connectors have some of Kerberos:

| property | what happens here |
|---|---|
"""


def render() -> str:
    """Return the page's text."""
    names = json.loads(_NAMES.read_text())
    return (
        _HEAD
        + "\n".join(
            f"| `{name}` | {_clients(names[name])} | {_outcome(name, handling)} |"
            for name, handling in sorted(JAVA_PROPERTIES.items(), key=itemgetter(0))
        )
        + "\n"
        + _OF_CONNECTORS
        + "".join(f"| `{name}` | {_outcome(name, handling)} |\n" for name, handling in CONNECTOR_PROPERTIES.items())
    )


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
