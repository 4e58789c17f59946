"""Options that are wrong: most are told when a read is made."""

from __future__ import annotations

from support.mistakes import WrongOptions, misread

CONNECTION = (
    misread("no address", "'properties.bootstrap.servers' is required", properties_bootstrap_servers=""),
    misread("address of a web server", "http://", "host:port", properties_bootstrap_servers="http://localhost:9092"),
    misread("port that is a word", "port", properties_bootstrap_servers="localhost:kafka"),
    misread("property misspelled", "max.pol.records", "max.poll.records", properties_max_pol_records="3"),
    misread("property of two words", "fetch.min.bites", "fetch.min.bytes", properties_fetch_min_bites="1"),
    misread("protocol unknown", "security.protocol", "SASL_SSL", properties_security_protocol="TLS"),
    misread(
        "mechanism unknown",
        "sasl.mechanism",
        "PLAIN",
        properties_security_protocol="SASL_PLAINTEXT",
        properties_sasl_mechanism="PLANE",
    ),
    misread(
        "login that is no JAAS",
        "sasl.jaas.config",
        properties_security_protocol="SASL_PLAINTEXT",
        properties_sasl_mechanism="PLAIN",
        properties_sasl_jaas_config="user=me",
    ),
    misread(
        "truststore that is not there",
        "/nowhere/trust.jks",
        properties_security_protocol="SSL",
        properties_ssl_truststore_location="/nowhere/trust.jks",
        properties_ssl_truststore_password="secret-of-mine",
    ),
    misread("number that is a word", "fetch.min.bytes", properties_fetch_min_bytes="few"),
    misread("acks unknown", "acks", properties_acks="two"),
    misread("compression unknown", "compression.type", "zstd", properties_compression_type="zip"),
    misread("offset reset unknown", "auto.offset.reset", "earliest", properties_auto_offset_reset="first"),
)

CHOICE_OF_TOPICS = (
    misread("option misspelled", "unknown option 'topik'; did you mean 'topic'?", topik="orders"),
    misread("no topic", "topic", topic=""),
    misread("topic and pattern", "topic-pattern", topic__pattern="o.*"),
    misread("several topics by comma", "separated by ';'", topic="orders,bad"),
    misread("pattern that does not end", "topic-pattern", topic="", topic__pattern="orders-["),
    misread("name that no topic has", "'my orders' cannot be the name", topic="my orders"),
    misread("partitions that are none", "topic-partitions", topic="", topic__partitions="orders:a"),
)

START_AND_STOP = (
    misread("start misspelled", "scan.startup.mode", "earliest-offset", scan_startup_mode="earliest"),
    misread("time without a time", "timestamp-millis", scan_startup_mode="timestamp"),
    misread(
        "time that is a date",
        "timestamp-millis",
        scan_startup_mode="timestamp",
        scan_startup_timestamp__millis="2024-01-01",
    ),
    misread(
        "seconds for milliseconds",
        "if these are seconds, give 1700000000000",
        scan_startup_mode="timestamp",
        scan_startup_timestamp__millis="1700000000",
    ),
    misread(
        "offsets in short",
        "'partition:0,offset:42",
        scan_startup_mode="specific-offsets",
        scan_startup_specific__offsets="0:42",
    ),
    misread(
        "offsets without an offset",
        "specific-offsets",
        scan_startup_mode="specific-offsets",
        scan_startup_specific__offsets="partition:0",
    ),
    misread("stop unknown", "scan.bounded.mode", "latest-offset", scan_bounded_mode="newest"),
    misread("offsets of Spark's connector", "startingOffsets", startingOffsets="first", scan_startup_mode=""),
    misread("offsets of Spark's connector cut", "endingOffsets", endingOffsets='{"orders": {"0": 1}'),
    misread("initializer that is not installed", "support.nowhere", scan_startup_mode="support.nowhere:Initializer"),
    misread("initializer that is none", "support.kafka", scan_startup_mode="support.kafka:produce"),
)

VALUES = (
    misread("number of records", "scan.max-records-per-batch", "number", scan_max__records__per__batch="many"),
    misread("boolean", "ingestion.ignore-errors", "true", ingestion_ignore__errors="yes please"),
    misread("duration", "scan.max-batch-delay", scan_max__batch__delay="five minutes"),
    misread("guarantee", "sink.delivery-guarantee", "at-least-once", sink_delivery__guarantee="at-most-once"),
    misread("exactly-once without a prefix", "sink.transactional-id-prefix", sink_delivery__guarantee="exactly-once"),
    misread("prefix without exactly-once", "exactly-once", sink_transactional__id__prefix="orders"),
    misread("partitioner misspelled", "sink.partitioner", "fixed", sink_partitioner="fixd"),
    misread("collector misspelled", "dirty-data.collector", "log", dirty__data_collector="logg"),
    misread("header filter without an end", "scan.header-filter", "character 10", scan_header__filter="env:test|"),
    misread("metadata misspelled", "partition", metadata_columns="partitn AS p"),
    misread("columns of no type", "INTT", schema=None, columns="id INTT"),
    misread("several options", "2 problems", "topik", "jsno", topik="orders", format="jsno"),
)

FORMATS = (
    misread("format misspelled", "'jsno'", "Did you mean 'json'?", format="jsno"),
    misread("csv without columns", "give them with .schema(", schema=None, format="csv"),
    misread("registry without an address", "avro-confluent.url", format="avro-confluent"),
    misread("protobuf without a class", "protobuf.message-class-name", format="protobuf"),
    misread("schema of avro that is no JSON", "option 'schema' is not an Avro schema", format="avro", avro_schema="{"),
    misread("key's format without its columns", "key.fields", key_format="json"),
    misread(
        "key's columns that are not there", "nr", key_format="json", key_fields="nr", value_fields__include="EXCEPT_KEY"
    ),
    misread("two delimiters", "field-delimiter is ';;'", format="csv", csv_field__delimiter=";;"),
    misread("standard of times", "ISO-8601", json_timestamp__format_standard="ISO"),
    misread(
        "strict and tolerant",
        "fail-on-missing-field and ignore-parse-errors exclude each other",
        json_fail__on__missing__field="true",
        json_ignore__parse__errors="true",
    ),
    misread("option of another format", "csv.null-literal", csv_null__literal="-"),
    misread("raw with two columns", "raw", schema="id INT, name STRING", format="raw"),
)

ALL: tuple[WrongOptions, ...] = (*CONNECTION, *CHOICE_OF_TOPICS, *START_AND_STOP, *VALUES, *FORMATS)

SAMPLE = (CONNECTION[3], CHOICE_OF_TOPICS[0], START_AND_STOP[3], VALUES[-1], FORMATS[0])
"""Some of each kind."""
