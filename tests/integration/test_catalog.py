"""Topics as tables, on a real broker: inferred columns, and reads of them by Spark."""

from __future__ import annotations

import datetime
import itertools
import json
from contextlib import closing
from decimal import Decimal

import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from millrace.errors import MessageError, SchemaError, UnknownTopicError
from millrace.plugins import CATALOG, plugin_manager
from millrace.testing import CatalogSuite
from millrace_catalog import KafkaJsonCatalog
from millrace_catalog.types.spark import from_spark_schema
from millrace_cli.peeking import topic_messages
from millrace_cli.root import root
from support.admin import add_partitions
from support.kafka import produce
from support.waiting import sooner_than

EXAMPLE = b'{"id":101,"name":"VVP","properties":{"owner":"Alibaba Cloud","engine":"Flink"}}'


@pytest.fixture
def write(broker, make_topic):
    """Write messages to a new topic, and return its name."""

    def write(*messages, partitions=1, config=None):
        topic = make_topic(partitions, config)
        records = [each if isinstance(each, dict) else {"value": each} for each in messages]
        produce(broker.bootstrap_servers, topic, [{"partition": 0, **record} for record in records])
        return topic

    return write


@pytest.fixture
def catalog(connection):
    """Make catalogs."""
    return lambda options=(), **settings: KafkaJsonCatalog.from_options({**connection, **dict(options)}, **settings)


def values_of(table):
    return [(column.name, column.type) for column in table.columns if column.part == "value"]


def rows_of(table, spark, *columns):
    return [tuple(row) for row in table.read(spark).orderBy("partition", "offset").select(*columns).collect()]


class TestKafkaJsonCatalog(CatalogSuite):
    @pytest.fixture(autouse=True)
    def topic(self, write, connection):
        self.connection = connection
        self.topic = write({"value": EXAMPLE, "key": b'{"id": 1}'})

    def names(self):
        return [self.topic]

    def make_catalog(self, options):
        # Without a password's protocol the client does not use it
        return KafkaJsonCatalog.from_options({**self.connection, "properties.sasl.password": "s3cr3t", **options})


@pytest.mark.parametrize(
    ("options", "columns", "row"),
    [
        (
            {},
            [("id", "BIGINT"), ("name", "STRING"), ("properties", "STRING")],
            (101, "VVP", '{"owner":"Alibaba Cloud","engine":"Flink"}'),
        ),
        (
            {"json.infer-schema.flatten-nested-columns.enable": "true"},
            [("id", "BIGINT"), ("name", "STRING"), ("properties.owner", "STRING"), ("properties.engine", "STRING")],
            (101, "VVP", "Alibaba Cloud", "Flink"),
        ),
        (
            {"json.infer-schema.nested": "struct"},
            [("id", "BIGINT"), ("name", "STRING"), ("properties", "ROW<owner STRING, engine STRING>")],
            (101, "VVP", ("Alibaba Cloud", "Flink")),
        ),
    ],
    ids=["string", "flatten", "struct"],
)
def test_nested_objects_in_their_three_forms(spark, write, catalog, options, columns, row):
    table = catalog(options).table(write(EXAMPLE))

    assert values_of(table) == columns
    assert rows_of(table, spark, *(f"`{name}`" for name, _ in columns)) == [row]
    assert from_spark_schema(table.read(spark).schema).names == table.columns_schema.names
    assert StructType.fromDDL(table.spark_ddl()) == table.spark_schema


def test_a_mixed_topic(spark, write, catalog):
    topic = write(
        {"value": b'{"id": 1, "n": 1, "big": 123456789012345678901, "nothing": null, "at": "2020-12-30 12:13:14"}'},
        {"value": b'{"id": 2, "n": 1.5, "list": [1, "a", null], "deep": {"a": {"b": [1, 2.5]}}}', "partition": 1},
        {"value": b'{"id": 3, "n": "many", "list": [], "deep": {"a": {"c": true}, "d": 1}}', "partition": 2},
        {"value": None, "partition": 2, "key": b"\xff"},
        {"value": b'{"id": 4, "deep": 7, "day": "2020-12-30", "nothing": null}', "partition": 2, "key": b'{"k": 1}'},
        partitions=3,
    )

    table = catalog({"json.infer-schema.nested": "flatten"}).table(topic)

    assert values_of(table) == [
        ("id", "BIGINT"),
        ("n", "STRING"),
        ("big", "DECIMAL(21, 0)"),
        ("nothing", "STRING"),
        ("at", "TIMESTAMP(6)"),
        ("list", "ARRAY<STRING>"),
        ("deep.a.b", "ARRAY<DOUBLE>"),
        ("deep.a.c", "BOOLEAN"),
        ("deep.d", "BIGINT"),
        ("deep", "BIGINT"),
        ("day", "DATE"),
    ]
    assert [column.name for column in table.columns if column.part != "value"] == [
        "key_col",
        "partition",
        "offset",
        "timestamp",
    ]
    assert table.primary_key == ("partition", "offset")
    by_name = {column.name: column.evidence for column in table.columns}
    assert by_name["n"] == (
        "BIGINT since partition 0, offset 0",
        "DOUBLE since partition 1, offset 0",
        "STRING since partition 2, offset 0",
    )
    assert "keys are bytes, since they are not all JSON objects: the key in partition 2, offset 1" in table.describe()
    assert rows_of(table, spark, "partition", "offset", "n", "big", "at") == [
        (0, 0, "1", Decimal(123456789012345678901), datetime.datetime(2020, 12, 30, 12, 13, 14)),
        (1, 0, "1.5", None, None),
        (2, 0, "many", None, None),
        (2, 2, None, None, None),
    ]
    columns = ("key_col", "nothing", "list", "`deep.a.b`", "`deep.a.c`", "`deep.d`", "deep", "day")
    assert rows_of(table, spark, *columns) == [
        (None, None, None, None, None, None, None, None),
        (None, None, ["1", "a", None], [1.0, 2.5], None, None, None, None),
        (None, None, [], None, True, 1, None, None),
        (bytearray(b'{"k": 1}'), None, None, None, None, None, 7, datetime.date(2020, 12, 30)),
    ]


def test_what_makes_no_table_is_told(write, catalog):
    poisoned = write(b'{"id": 1}', b"\x00not json", b"[1]")
    wide = write(json.dumps({f"c{number}": number for number in range(10_000)}).encode())
    for topic, kind, message in [
        ("not-there", UnknownTopicError, "no topic 'not-there' at "),
        (
            write(),
            SchemaError,
            "has no messages to infer columns from: write some, or ",
        ),
        (write(None, b" ", b"null"), SchemaError, "has no columns to infer: the 3 sampled messages have no value"),
        (write(b"<xml/>", b"7"), SchemaError, "holds no JSON objects: none of the 2 sampled messages is"),
        (
            poisoned,
            MessageError,
            "partition 0, offset 1: not JSON: .* \\(2 of 3 sampled messages .* json.ignore-parse-errors",
        ),
        (wide, SchemaError, r"has 2001 columns.* 'infer-schema.max-columns' allows \(2000\)|has 10000 columns"),
        (write(b'{"timestamp": 1}'), SchemaError, "'timestamp' would be of the value and of the metadata; give option"),
        (write({"value": b'{"key_a": 1}', "key": b'{"a": 1}'}), SchemaError, "'key_a' would be of the key and of the "),
    ]:
        with pytest.raises(kind, match=message):
            catalog().table(topic)

    lenient = catalog({"json.ignore-parse-errors": "true"}).table(poisoned)
    assert values_of(lenient) == [("id", "BIGINT")]
    assert "left out 2 malformed messages, first partition 0, offset 1: not JSON" in lenient.describe()
    assert len(catalog({"infer-schema.max-columns": "10000"}).table(wide).columns) == 10_003


def test_prefixes_keys_and_upsert_tables(spark, write, catalog):
    topic = write(
        {"value": b'{"id": 1, "timestamp": 5}', "key": b'{"id": 7, "at": {"c": "x"}}'},
        {"value": b'{"id": 2, "timestamp": 6}', "key": b'{"id": 8, "at": {"c": "y"}}'},
        config={"cleanup.policy": "compact"},
    )
    options = {
        "key.fields-prefix": "k_",
        "value.fields-prefix": "v_",
        "infer-schema.compacted-topic-as-upsert-table": "true",
        "infer-schema.flatten-nested-columns.enable": "true",
    }

    table = catalog(options).table(topic)

    assert table.is_upsert
    assert table.primary_key == ("k_id", "k_at.c")
    assert rows_of(table, spark, "k_id", "`k_at.c`", "v_id", "v_timestamp") == [(7, "x", 1, 5), (8, "y", 2, 6)]
    assert not catalog(options).table(write(EXAMPLE)).is_upsert


def test_fields_that_come_later_are_rescued_until_the_columns_are_inferred_anew(spark, broker, write, catalog):
    topic = write({"value": EXAMPLE, "key": b'{"id": 1}'})
    options = {"json.rescued-data-column": "rest", "json.infer-schema.nested": "struct", "value.fields-prefix": "v_"}
    known = catalog(options)
    table = known.table(topic)

    later = b'{"id":102,"discount":5,"properties":{"owner":"me","tier":{"n":1}}}'
    produce(broker.bootstrap_servers, topic, [{"value": later, "partition": 0}])

    columns = ("v_id", "v_properties.owner", "v_rest")
    assert rows_of(table, spark, *columns) == [
        (101, "Alibaba Cloud", None),
        (102, "me", '{"discount":5,"properties.tier":{"n":1}}'),
    ]
    known.refresh()
    anew = known.table(topic)
    assert values_of(anew)[-2:] == [("v_discount", "BIGINT"), ("v_rest", "STRING")]
    assert rows_of(anew, spark, "v_discount", "v_properties.tier.n", "v_rest") == [(None, None, None), (5, 1, None)]
    with pytest.raises(SchemaError, match="messages have a field 'discount'; give option "):
        catalog({"json.rescued-data-column": "discount"}).table(topic)


def test_views_and_streams(spark, broker, write, catalog, tmp_path):
    topic = write(EXAMPLE, b"7")
    other = write(b'{"n": 1}', b'{"n": 2}', partitions=2)
    at = 0.0
    known = catalog({"infer-schema.cache-ttl": "10 s"}, clock=lambda: at)

    made = known.create_views(spark)

    assert other in made
    assert topic not in made
    assert spark.sql(f"SELECT sum(n) FROM `{other}`").collect() == [(3,)]
    stream = known.table(other).read_stream(spark, {"scan.startup.mode": "earliest-offset"})
    writing = stream.writeStream.format("memory").queryName("streamed").option("checkpointLocation", str(tmp_path))
    writing.trigger(availableNow=True).start().awaitTermination()
    assert sorted(row.n for row in spark.table("streamed").collect()) == [1, 2]

    produce(broker.bootstrap_servers, other, [{"value": b'{"n": 3, "new": 1}', "partition": 1}])
    assert "new" not in known.table(other).schema.names
    at = 10.0
    assert "new" in known.table(other).schema.names
    produce(broker.bootstrap_servers, other, [{"value": b'{"newest": 1}', "partition": 1}])
    known.refresh(other)
    assert "newest" in known.table(other).schema.names
    known.create_views(spark)
    assert spark.sql(f"SELECT sum(n) FROM `{other}`").collect() == [(6,)]


@pytest.mark.nightly
def test_fifty_messages_from_each_of_a_hundred_partitions_are_read_at_once(write, connection):
    text = '{"id": %d, "name": "n%d", "at": "2020-12-30 12:13:14", "inner": {"a": [1, 2, 3], "b": null}, "x": "%s"}'
    values = ((text % (number, number, "x" * 100)).encode() for number in range(6_000))
    topic = write(*({"value": value, "partition": n % 100} for n, value in enumerate(values)), partitions=100)
    found = plugin_manager().load(CATALOG, "kafka").from_options(connection)

    # A client waits for half a second at a partition's end
    with sooner_than(50, "reading one partition after the other"):
        table = found.table(topic)

    assert [column.name for column in table.columns] == [
        *("id", "name", "at", "inner", "x"),
        *("partition", "offset", "timestamp"),
    ]
    assert "inferred from 5,000 messages" in table.describe()


def test_the_data_source_infers_columns_that_are_not_given(spark, broker, write, connection, tmp_path):
    topic = write(EXAMPLE, b'{"id": 102.5}', {"value": b"poison", "headers": [("kind", b"poison")]})
    other = write(b'{"id": 7, "at": "2020-12-30 12:13:14Z"}')

    def reader(topics, *, of=None):
        made = (of or spark.read).format("millrace").options(**connection)
        return made.option("format", "json").option("topic", topics)

    both = reader(f"{topic};{other}").option("metadata.columns", "topic AS t")
    both = both.option("scan.header-filter", "!kind:poison").option("json.infer-schema.nested", "flatten").load()
    assert both.dtypes == [
        *(("id", "double"), ("name", "string"), ("properties.owner", "string"), ("properties.engine", "string")),
        *(("at", "timestamp"), ("t", "string")),
    ]
    assert both.select("id", "`properties.owner`", "t").orderBy("id").collect() == [
        (7.0, None, other),
        (101.0, "Alibaba Cloud", topic),
        (102.5, None, topic),
    ]

    for topics, message in [
        (topic, "malformed message in topic .* partition 0, offset 2: not JSON"),
        (write(), "the columns of format 'json' are inferred from messages, and no message with any is in"),
        ("not-there", "no topic 'not-there'"),
    ]:
        with pytest.raises(PySparkException, match=message):
            reader(topics).load()
    skipping = reader(topic).option("ingestion.ignore-errors", "true").option("json.infer-schema.nested", "struct")
    assert [row.properties for row in skipping.load().collect()] == [("Alibaba Cloud", "Flink"), None]

    stream = reader(other, of=spark.readStream).option("scan.startup.mode", "earliest-offset").load()
    writing = stream.writeStream.format("memory").queryName("inferred").option("checkpointLocation", str(tmp_path))
    writing.trigger(availableNow=True).start().awaitTermination()
    assert [row.id for row in spark.table("inferred").collect()] == [7]


def test_the_commands(broker, write):
    topic = write(
        {"value": EXAMPLE, "key": b'{"id": 1}', "timestamp": 2_000},
        {"value": b'{"id": 102, "name": "a\\u001b[31m"}', "timestamp": 1_000},
        {"value": None, "timestamp": 3_000},
        {"value": b'{"id": 103}', "partition": 1, "timestamp": 1_500},
        partitions=2,
    )

    def run(*arguments):
        return CliRunner().invoke(root, [*arguments, "--bootstrap-servers", broker.bootstrap_servers])

    described = run("schema", topic).stdout.splitlines()
    assert described[0] == f"table {topic}, primary key (partition, offset)"
    assert described[1].split() == ["column", "type", "of", "because", "of"]
    assert described[3].split(None, 3) == ["id", "BIGINT", "value", "BIGINT since partition 0, offset 0"]
    assert run("schema", topic, "--spark").stdout == (
        "`key_id` BIGINT, `id` BIGINT, `name` STRING, `properties` STRING, `partition` INT NOT NULL, "
        "`offset` BIGINT NOT NULL, `timestamp` TIMESTAMP\n"
    )
    assert f"CREATE TABLE `kafka`.`{topic}` (\n  `key_id` BIGINT,\n" in run("schema", topic, "--ddl").stdout
    nested = json.loads(run("schema", topic, "--json-schema", "--option", "json.infer-schema.nested=struct").stdout)
    assert list(nested["properties"]["properties"]["properties"]) == ["owner", "engine"]

    peeked = run("peek", topic, "-n", "3")
    assert peeked.exit_code == 0
    lines = [line.split() for line in peeked.stdout.splitlines()]
    assert lines[0] == ["key_id", "id", "name", "properties", "partition", "offset", "timestamp"]
    # Three messages, of which the newest has no value
    assert [line[1] for line in lines[1:]] == ["103", "101"]
    assert "a\\x1b[31m" in run("peek", topic).stdout
    missing = run("peek", "not-there")
    assert missing.exit_code == 1
    assert missing.stderr.startswith("millrace: no topic 'not-there' at ")
    wrong = run("schema", topic, "--option", "json.infer-schema.nestd=struct")
    assert "did you mean 'json.infer-schema.nested'?" in wrong.stderr

    produce(broker.bootstrap_servers, topic, [{"value": b'{"id": "text"}', "partition": 0, "timestamp": 4_000}])
    undecoded = run("peek", topic, "--option", "json.infer-schema.fixed-types=id INT")
    assert undecoded.exit_code == 1
    assert f"malformed message in topic '{topic}', partition 0" in undecoded.stderr


def messages_of(broker, topic):
    options = {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": topic, "format": "raw"}
    return topic_messages.TopicMessages(options)


def test_peek_guesses_formats_and_counts_what_is_malformed(broker, write):
    def peek(topic, *arguments):
        return CliRunner().invoke(root, ["peek", topic, *arguments, "--bootstrap-servers", broker.bootstrap_servers])

    cut = write({"value": b'{"id": 1}', "timestamp": 1_000}, {"value": b'{"id": ', "timestamp": 2_000})
    change = write({"value": b'{"before": null, "after": {"id": 7}, "op": "c"}'})
    text = write({"value": b"a,b", "key": b"k", "headers": [("trace", b"t-1")]})

    some = peek(cut)
    assert some.stdout.split() == ["id", "1"]
    assert some.stderr.splitlines()[-1] == "millrace: 1 of 2 messages are malformed"
    assert some.exit_code == 1

    changed = peek(change)
    assert changed.stdout.split() == ["row_kind", "id", "+I", "7"]
    assert "reading with format debezium-json" in changed.stderr

    # What comes after the newest messages is followed, whether it came before or after the first poll
    messages = topic_messages.TopicMessages(
        {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": text, "format": "raw"}
    )
    assert [each.value() for each in messages.newest(5)] == [b"a,b"]
    produce(broker.bootstrap_servers, text, [{"value": b"c,d"}])
    assert next(filter(None, messages.follow()))[0].value() == b"c,d"

    both = peek(text)
    assert both.stdout.split() == ["column_1", "column_2", "a", "b", "c", "d"]

    raw = peek(text, "--metadata", "--format", "raw", "--where", "headers['trace'] = 't-1'")
    assert [line.split()[0] for line in raw.stdout.splitlines()] == ["value", "a,b"]
    assert '[["trace", "t-1"]]' in raw.stdout
    assert raw.exit_code == 0
    assert "Did you mean 'json'?" in peek(text, "--format", "jsn").stderr


def test_a_topic_is_followed_into_partitions_that_are_added(broker, write, monkeypatch):
    monkeypatch.setattr(topic_messages, "DISCOVERY_INTERVAL_MS", 100)
    topic = write({"value": b"before"})
    messages = topic_messages.TopicMessages(
        {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": topic, "format": "raw"}
    )
    assert len(messages.newest(1)) == 1
    with closing(messages.follow()) as following:
        come = (message.value() for message in itertools.chain.from_iterable(following))
        produce(broker.bootstrap_servers, topic, [{"value": b"1", "partition": 0}])
        assert next(come) == b"1"

        add_partitions(broker.bootstrap_servers, topic, 2)
        produce(broker.bootstrap_servers, topic, [{"value": b"2", "partition": 0}, {"value": b"3", "partition": 1}])
        assert {next(come), next(come)} == {b"2", b"3"}
        # Nothing is shown again
        produce(broker.bootstrap_servers, topic, [{"value": b"4", "partition": 0}])
        assert next(come) == b"4"
