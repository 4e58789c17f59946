"""Mistakes that a read finds in the cluster, in messages or in columns."""

from __future__ import annotations

from support.mistakes import Mistake, Playground


def _read(name: str, *says: str, schema: str | None = "id INT", is_slow: bool = False, **options: str) -> Mistake:
    def make(place: Playground) -> None:
        place.read(schema, **{"topic": "orders", "format": "json", **options}).show(3)

    return Mistake(name, make, says, is_slow)


PLANNED = (
    _read("topic misspelled", "no topic 'order'", "Did you mean 'orders'?", topic="order"),
    _read("pattern of no topic", "topic-pattern", topic="", topic__pattern="nothing-.*"),
    _read("nobody listens", "Connection refused", is_slow=True, properties_bootstrap_servers="127.0.0.1:1"),
    _read("host that is not there", "nowhere.invalid", is_slow=True, properties_bootstrap_servers="nowhere.invalid:1"),
    _read("TLS where there is none", "does not speak TLS", properties_security_protocol="SSL"),
    _read(
        "login where there is none",
        "security.protocol",
        properties_security_protocol="SASL_PLAINTEXT",
        properties_sasl_mechanism="PLAIN",
        properties_sasl_username="me",
        properties_sasl_password="secret-of-mine",
    ),
    _read(
        "group that has read nothing",
        "'properties.auto.offset.reset'",
        properties_group_id="never-seen",
        scan_startup_mode="group-offsets",
    ),
    _read("group's offsets without a group", "properties.group.id", scan_startup_mode="group-offsets"),
    _read(
        "offset after the end",
        "99999",
        scan_startup_mode="specific-offsets",
        scan_startup_specific__offsets="partition:0,offset:99999",
    ),
    _read(
        "partition that is not there",
        "partition 9",
        scan_startup_mode="specific-offsets",
        scan_startup_specific__offsets="partition:9,offset:0",
    ),
    _read("column of a type that JSON has not", "took", "INTERVAL", schema="id INT, took INTERVAL DAY TO SECOND"),
    _read(
        "dead letters to nowhere",
        "no topic 'nowhere'",
        ingestion_ignore__errors="true",
        dirty__data_collector="topic",
        dirty__data_collector_topic="nowhere",
    ),
    _read("two formats for the value", "'value.format' is used", "can be decoded", format="json", value_format="csv"),
    _read("deserializer of Java", "has no effect in millrace", properties_value_deserializer="org.apache.kafka.X"),
    _read("columns of an empty topic", "write some", schema=None, topic="empty"),
    Mistake("column misspelled", lambda place: place.read("id INT", topic="orders").select("idd"), ("idd", "id")),
)

MESSAGES = (
    _read("message that is cut", "topic 'bad', partition 0, offset 1", "ignore-parse-errors", topic="bad"),
    _read("text for a number", "topic 'orders'", "name", "INT", schema="name INT"),
    _read("no value for a column that wants one", "nr", schema="nr INT NOT NULL"),
    _read("a time with T", "'json.timestamp-format.standard'", "ISO-8601", schema="iso TIMESTAMP"),
    _read(
        "a time without T",
        "'json.timestamp-format.standard'",
        "SQL",
        schema="sql TIMESTAMP",
        json_timestamp__format_standard="ISO-8601",
    ),
    _read("json read as csv", "topic 'orders'", schema="id INT", format="csv"),
    _read("json read as avro", "topic 'orders'", schema="id INT", format="avro"),
    _read("a field that must be there", "nr", schema="nr INT", json_fail__on__missing__field="true"),
    _read(
        "too many bad messages",
        "topic 'bad'",
        topic="bad",
        ingestion_error__tolerance_max__count="0",
        ingestion_ignore__errors="true",
    ),
    _read("columns that no message has", "Id (did you mean id?", "Name (did you", schema="Id INT, Name STRING"),
)

PLUGINS = (
    _read(
        "format that raises",
        "format",
        "support.mistakes.plugins",
        "decode",
        "it is broken",
        format="support.mistakes.plugins:BrokenFormat",
    ),
    _read(
        "filter that raises",
        "header filter",
        "support.mistakes.plugins",
        "it is broken",
        scan_filter_language="support.mistakes.plugins:BrokenFilter",
        scan_header__filter="x",
    ),
    _read(
        "start that raises",
        "offset initializer",
        "support.mistakes.plugins",
        "it is broken",
        scan_startup_mode="support.mistakes.plugins:BrokenStart",
    ),
    _read(
        "collector that raises",
        "dead letter collector",
        "support.mistakes.plugins",
        "it is broken",
        topic="bad",
        dirty__data_collector="support.mistakes.plugins:BrokenCollector",
        ingestion_ignore__errors="true",
    ),
)


def _metrics_of_rows(place: Playground) -> None:
    from millrace import metrics

    metrics(place.read("id INT", topic="orders", format="json"))


def _catalog_of_an_address(place: Playground) -> None:
    from millrace_catalog import KafkaJsonCatalog

    KafkaJsonCatalog(place.servers)


def _table_of_spark(place: Playground) -> None:
    place.spark.sql("DROP TABLE IF EXISTS misplaced")
    place.spark.sql("CREATE TABLE misplaced (id INT) USING millrace OPTIONS (topic 'orders')")
    place.spark.table("misplaced").count()


OF_THE_API = (
    Mistake("metrics of rows", _metrics_of_rows, ("metrics expects the query that .writeStream...start() returns",)),
    Mistake("catalog of an address", _catalog_of_an_address, ("properties.bootstrap.servers",)),
    Mistake("source misspelled", lambda place: place.spark.read.format("milrace").load(), ("milrace", "millrace")),
    Mistake("source of Spark", lambda place: place.spark.read.format("kafka").load(), (".format('millrace')",)),
    Mistake(
        "table of Spark's catalog",
        _table_of_spark,
        ("CREATE TEMPORARY VIEW",),
    ),
)

TOLD_APART = (MESSAGES[0], *MESSAGES[3:5], *MESSAGES[-2:])
"""Messages with advice of their own."""

ALL = (*PLANNED, *MESSAGES, *PLUGINS, *OF_THE_API)
