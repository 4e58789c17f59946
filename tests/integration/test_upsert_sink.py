"""Writes to upsert tables on the real broker: batches, streams, aggregations that update."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import functions as sf

import millrace
from support.admin import admin_of, delete_topics, partitions_of
from support.cases import CASES
from support.changing_table import KEYS, ROWS, ChangingTable, Written
from support.kafka import produce
from support.retrying import retried_all
from support.tiers import nightly_but

PRODUCTS = "id INT NOT NULL, name STRING, description STRING, weight FLOAT"
CHANGE_LOGS = {"debezium-json": "mysql-schema-exclude.txt", "canal-json": "data.txt", "maxwell-json": "data.txt"}
COLUMNS = "row_kind STRING, id INT NOT NULL, n INT"


@pytest.fixture
def topics(make_topic):
    """A topic of changes, and an upsert table."""
    return make_topic(2), make_topic(3)


@pytest.fixture
def upsert(connection, topics):
    """The options of the upsert table."""
    keys = {"key.format": "csv", "key.fields": "id", "value.format": "json"}
    return {**connection, "connector": "upsert-kafka", "topic": topics[1], **keys}


@pytest.fixture
def changes_of(connection, topics):
    # The changes of a key are read by several tasks
    read = {**connection, "topic": topics[0], "format": "debezium-json", "scan.parallelism": "5"}
    return lambda reader, **further: reader.format("millrace").options(**read, **further).schema(COLUMNS).load()


def save(rows, options):
    rows.write.format("millrace").options(**options).mode("append").save()


def exactly_once(prefix):
    return {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": prefix}


@pytest.mark.parametrize("guarantee", nightly_but(["none", "exactly-once"], "exactly-once"))
def test_a_batch_writes_the_changes_of_each_key_in_order(
    spark, broker, topics, upsert, changes_of, nothing_left, guarantee
):
    table = ChangingTable()
    produce(broker.bootstrap_servers, topics[0], table.change())
    options = exactly_once(topics[1]) if guarantee == "exactly-once" else {"sink.delivery-guarantee": guarantee}

    divided = millrace.repartition_by_key(changes_of(spark.read), "id", tasks=3)
    save(divided, {**upsert, **options})

    written = Written(broker.bootstrap_servers, topics[1])
    assert (written.rows, written.history) == (table.rows, table.history)
    assert {len(partitions) for partitions in written.partitions.values()} == {1}


def test_a_stream_writes_each_change_once_and_in_order(spark, broker, topics, upsert, changes_of, tmp_path):
    table = ChangingTable()
    batches = {"scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": str(ROWS // 3)}
    for _ in range(2):
        produce(broker.bootstrap_servers, topics[0], table.change())
        divided = millrace.repartition_by_key(changes_of(spark.readStream, **batches), ["id"], tasks=2)
        query = divided.writeStream.format("millrace").options(**upsert, **exactly_once(topics[1]))
        query = query.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
        query.awaitTermination()

    written = Written(broker.bootstrap_servers, topics[1])
    assert (written.rows, written.history) == (table.rows, table.history)
    assert {len(partitions) for partitions in written.partitions.values()} == {1}


def test_rows_that_leave_a_filter_are_deleted_and_a_buffer_writes_less(spark, broker, topics, upsert, changes_of):
    table = ChangingTable()
    produce(broker.bootstrap_servers, topics[0], table.change())
    buffer = {"sink.buffer-flush.max-rows": str(KEYS // 2), "sink.buffer-flush.interval": "1 h"}

    filtered = changes_of(spark.read).where("n % 3 > 0")
    save(millrace.repartition_by_key(filtered, "id", tasks=2), {**upsert, **buffer})

    written = Written(broker.bootstrap_servers, topics[1])
    assert written.rows == {key: n for key, n in table.rows.items() if n % 3}
    assert sum(map(len, written.history.values())) < filtered.where("row_kind != '-U'").count()


def test_a_column_can_order_rows_that_come_in_any_order(spark, broker, topics, upsert):
    rows = spark.range(400).selectExpr("INT(id % 7) AS id", "INT(id) AS n", "rand(3) AS random")
    shuffled = rows.repartition(4, "random").sortWithinPartitions("random").drop("random")

    save(millrace.repartition_by_key(shuffled, ["id"], ordering="n", tasks=2), upsert)

    assert Written(broker.bootstrap_servers, topics[1]).history == {key: list(range(key, 400, 7)) for key in range(7)}


def test_an_aggregation_that_updates_writes_each_changed_group_once(
    spark, broker, connection, topics, upsert, tmp_path
):
    numbers = ({"value": b"%d" % number, "partition": number % 2} for number in range(ROWS))
    produce(broker.bootstrap_servers, topics[0], numbers)
    write = millrace.upsert_batches({**upsert, **exactly_once(topics[1])})
    failures = iter([RuntimeError("after the write, before Spark's commit")])

    def write_and_fail_once(rows, number):
        write(rows, number)
        if number == 1:
            for failure in failures:
                raise failure

    def run():
        reader = spark.readStream.format("millrace").options(**connection, topic=topics[0])
        reader = reader.options(**{"scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": ROWS // 3})
        counted = reader.load().groupBy(sf.expr("INT(STRING(value)) % 10").alias("id")).agg(sf.count("*").alias("n"))
        query = counted.writeStream.outputMode("update").foreachBatch(write_and_fail_once).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path)).start().awaitTermination()

    with pytest.raises(StreamingQueryException, match="before Spark's commit"):
        run()
    run()

    each = ROWS // 30
    assert Written(broker.bootstrap_servers, topics[1]).history == {
        key: [each, 2 * each, 3 * each] for key in range(10)
    }


def test_a_group_without_rows_is_deleted(spark, broker, upsert, topics):
    write = millrace.upsert_batches(upsert)
    write(spark.sql("SELECT 1 AS id, 5L AS n UNION ALL SELECT 2, 6L"), 0)
    write(spark.sql("SELECT '-D' AS row_kind, 1 AS id, 0L AS n"), 1)

    written = Written(broker.bootstrap_servers, topics[1])
    assert (written.rows, written.history) == ({2: 6}, {1: [5, None], 2: [6]})


def test_a_sink_of_the_builder_divides_rows_by_key(spark, broker, connection, topics):
    table = ChangingTable()
    produce(broker.bootstrap_servers, topics[0], table.change())
    serializer = millrace.KafkaRecordSerializationSchema.builder().set_topic(topics[1])
    serializer.set_key_serialization_schema("csv", ["id"]).set_value_serialization_schema("json")
    sink = millrace.KafkaSink.builder().set_bootstrap_servers(broker.bootstrap_servers).set_parallelism(3)
    sink.set_record_serializer(serializer.build()).set_option("connector", "upsert-kafka")
    read = {**connection, "topic": topics[0], "format": "debezium-json", "scan.parallelism": "5"}

    sink.build().write(spark.read.format("millrace").options(**read).schema(COLUMNS).load())

    assert Written(broker.bootstrap_servers, topics[1]).history == table.history


def test_a_missing_topic_is_created_compacted(spark, broker, topics, upsert, make_topic):
    name = make_topic(name=f"{topics[1]}-created")
    delete_topics(broker.bootstrap_servers, [name])
    create = {"topic": name, "sink.topic.create": "true", "sink.topic.create.partitions": "4"}

    save(spark.sql("SELECT 1 AS id, 2 AS n"), {**upsert, **create})

    admin, resource = admin_of(broker.bootstrap_servers), ConfigResource(ResourceType.TOPIC, name)
    (config,) = retried_all(lambda: admin.describe_configs([resource]))
    assert config["cleanup.policy"].value == "compact"
    assert len(partitions_of(admin, name)) == 4
    assert Written(broker.bootstrap_servers, name).rows == {1: 2}


@pytest.mark.nightly
def test_what_no_upsert_table_can_have_is_refused(spark, upsert):
    with pytest.raises((AnalysisException, PySparkException), match=r"'sink\.partitioner' cannot be used"):
        save(spark.sql("SELECT 1 AS id, 2 AS n"), {**upsert, "sink.partitioner": "fixed"})
    with pytest.raises((AnalysisException, PySparkException), match="column 'id', row 0: it belongs to the key"):
        save(spark.sql("SELECT INT(NULL) AS id, 2 AS n"), upsert)


@pytest.mark.cases
@pytest.mark.parametrize("name", nightly_but(CHANGE_LOGS, "debezium-json"))
def test_a_change_log_goes_through_a_table_and_back(spark, broker, connection, topics, upsert, name):
    lines = (CASES / name / CHANGE_LOGS[name]).read_text().splitlines()
    produce(broker.bootstrap_servers, topics[0], [{"value": line.encode(), "partition": 0} for line in lines])
    log = spark.read.format("millrace").options(**connection, topic=topics[0], format=name)
    log = log.schema(f"row_kind STRING, {PRODUCTS}").load()

    save(millrace.repartition_by_key(log, "id", tasks=2), upsert)
    table = spark.read.format("millrace").options(**upsert).schema(f"row_kind STRING, {PRODUCTS}").load()

    expected = {}
    for kind, key, *columns in log.collect():
        expected.pop(key, None) if kind in ("-U", "-D") else expected.update({key: columns})
    assert expected
    found = [(kind, key, columns) for kind, key, *columns in table.collect()]
    assert sorted(found) == sorted(("+I", key, columns) for key, columns in expected.items())


def test_a_stream_copies_a_table_to_a_table(spark, broker, topics, upsert, changes_of, make_topic, tmp_path):
    table, copy = ChangingTable(), make_topic(2)
    reading = {"state.checkpoints.dir": str(tmp_path / "state"), "scan.max-records-per-batch": "500"}
    for _ in range(2):
        # The second time, the whole log is written again, and then more
        produce(broker.bootstrap_servers, topics[0], table.change())
        save(millrace.repartition_by_key(changes_of(spark.read), "id", tasks=2), upsert)
        changes = spark.readStream.format("millrace").options(**upsert, **reading).schema(COLUMNS).load()
        filtered = millrace.repartition_by_key(changes.where("n % 3 > 0"), "id", tasks=2)
        query = filtered.writeStream.format("millrace").options(**{**upsert, **exactly_once(copy), "topic": copy})
        query.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(
            availableNow=True
        ).start().awaitTermination()

    assert Written(broker.bootstrap_servers, copy).rows == {key: n for key, n in table.rows.items() if n % 3}
