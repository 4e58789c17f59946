"""Options that two dialects can say become each other and come back unchanged, and texts are read as written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from millrace_cli.converting.connect import ConnectConfig
from millrace_cli.converting.conversion import convert
from millrace_cli.converting.dialect import OptionDialect, OptionSet, Side
from millrace_cli.converting.java import JavaProperties
from millrace_cli.converting.own import MillraceOptions
from millrace_cli.converting.spark import SparkOptions
from millrace_sql.with_clause import WithClause

DIALECTS: dict[str, OptionDialect] = {
    "java": JavaProperties(),
    "spark": SparkOptions(),
    "flink": WithClause(),
    "connect": ConnectConfig(),
    "millrace": MillraceOptions(),
}
PAIRS = list(itertools.permutations(DIALECTS, 2))
Spelling = Callable[[str], Mapping[str, str]]

names = st.text("abcxyz019_-", min_size=1, max_size=8)
topic_lists = st.lists(names, min_size=1, max_size=3, unique=True).map(",".join)
numbers = st.integers(1, 100_000).map(str)


@dataclass(frozen=True)
class Saying:
    """A setting of a connector, in the spelling of each dialect.

    Attributes:
        slot: Only one of those with the same slot is said.
        values: The values that it may have.
        spellings: By dialect; those without one cannot say it.
    """

    slot: str
    values: st.SearchStrategy[str]
    spellings: Mapping[str, Spelling]


def option(name: str) -> Spelling:
    return lambda value: {name: value}


def client(name: str, values: st.SearchStrategy[str], override: str, *, is_used: bool = True) -> Saying:
    own = {"millrace": option(f"properties.{name}")} if is_used else {}
    return Saying(
        name,
        values,
        {
            "java": option(name),
            "spark": option(f"kafka.{name}"),
            "flink": option(f"properties.{name}"),
            "connect": option(f"{override}.override.{name}"),
            **own,
        },
    )


def shared(slot: str, values: st.SearchStrategy[str], reference: Spelling, **others: Spelling) -> Saying:
    """Return a saying that Flink and millrace spell alike."""
    return Saying(slot, values, {"flink": reference, "millrace": reference, **others})


def clients(override: str) -> list[Saying]:
    addresses = st.lists(names.map("{}:9092".format), min_size=1, max_size=3).map(",".join)
    return [
        client("bootstrap.servers", addresses, override),
        client("client.id", names, override),
        client("retry.backoff.ms", numbers, override),
        client("security.protocol", st.sampled_from(["PLAINTEXT", "SSL"]), override),
        client("ssl.truststore.location", names.map("/etc/{}.jks".format), override),
        client("ssl.truststore.password", names, override),
        client("metric.reporters", names, override, is_used=False),
    ]


REGISTRY = st.builds("http://{}:8081".format, names)
READS = [
    *clients("consumer"),
    client("fetch.min.bytes", numbers, "consumer"),
    client("isolation.level", st.sampled_from(["read_committed", "read_uncommitted"]), "consumer"),
    client("session.timeout.ms", numbers, "consumer", is_used=False),
    shared(
        "topics",
        topic_lists,
        lambda topics: {"topic": topics.replace(",", ";")},
        spark=option("subscribe"),
        connect=option("topics"),
    ),
    shared(
        "topics",
        names.map("{}-.*".format),
        option("topic-pattern"),
        spark=option("subscribePattern"),
        connect=option("topics.regex"),
    ),
    shared(
        "start",
        st.sampled_from(["earliest", "latest"]),
        lambda word: {"scan.startup.mode": f"{word}-offset"},
        java=option("auto.offset.reset"),
        spark=option("startingOffsets"),
        connect=option("consumer.override.auto.offset.reset"),
    ),
    shared(
        "start",
        names,
        option("properties.group.id"),
        java=option("group.id"),
        connect=option("consumer.override.group.id"),
    ),
    shared(
        "start",
        names,
        lambda group: {"properties.group.id": group, "properties.auto.offset.reset": "earliest"},
        java=lambda group: {"group.id": group, "auto.offset.reset": "earliest"},
        connect=lambda group: {
            "consumer.override.group.id": group,
            "consumer.override.auto.offset.reset": "earliest",
        },
    ),
    shared(
        "start",
        names,
        lambda name: {"properties.group.id": f"connect-{name}"},
        java=lambda name: {"group.id": f"connect-{name}"},
        connect=option("name"),
    ),
    Saying(
        "start",
        st.integers(10**12, 2 * 10**12).map(str),
        {
            "spark": lambda millis: {
                "startingTimestamp": millis,
                "startingOffsetsByTimestampStrategy": "latest",
            },
            "flink": lambda millis: {
                "scan.startup.mode": "timestamp",
                "scan.startup.timestamp-millis": millis,
            },
        },
    ),
    Saying(
        "start",
        st.dictionaries(names, st.dictionaries(numbers, st.integers(-2, 10**6), min_size=1), min_size=1).map(
            lambda listed: json.dumps(listed, separators=(",", ":"))
        ),
        {
            "spark": option("startingOffsets"),
            "millrace": lambda text: {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": ";".join(
                    f"topic:{topic},partition:{at},offset:{ {-2: 'earliest', -1: 'latest'}.get(offset, offset) }"
                    for topic, listed in json.loads(text).items()
                    for at, offset in listed.items()
                ),
                "scan.startup.all-partitions-named": "true",
            },
        },
    ),
    Saying(
        "stop",
        st.just("latest"),
        {
            "spark": option("endingOffsets"),
            "flink": lambda word: {"scan.bounded.mode": f"{word}-offset"},
            "millrace": lambda word: {"scan.bounded.mode": f"{word}-offset"},
        },
    ),
    Saying(
        "limit", numbers, {"spark": option("maxOffsetsPerTrigger"), "millrace": option("scan.max-records-per-batch")}
    ),
    Saying(
        "minimum", numbers, {"spark": option("minOffsetsPerTrigger"), "millrace": option("scan.min-records-per-batch")}
    ),
    Saying(
        "delay",
        st.sampled_from(["15m", "30s", "500ms"]),
        {
            "spark": option("maxTriggerDelay"),
            "millrace": option("scan.max-batch-delay"),
        },
    ),
    shared("tasks", numbers, option("scan.parallelism"), spark=option("minPartitions")),
    Saying(
        "loss",
        st.sampled_from(["true", "false"]),
        {
            "spark": option("failOnDataLoss"),
            "millrace": option("scan.fail-on-data-loss"),
        },
    ),
    shared(
        "format",
        st.just("json"),
        option("format"),
        java=lambda _: {"value.deserializer": "org.apache.kafka.connect.json.JsonDeserializer"},
        connect=lambda _: {
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        },
    ),
    shared(
        "format",
        REGISTRY,
        lambda url: {"format": "avro-confluent", "avro-confluent.url": url},
        java=lambda url: {
            "value.deserializer": "io.confluent.kafka.serializers.KafkaAvroDeserializer",
            "schema.registry.url": url,
        },
        connect=lambda url: {
            "value.converter": "io.confluent.connect.avro.AvroConverter",
            "value.converter.schema.registry.url": url,
        },
    ),
    shared(
        "format",
        names,
        lambda topic: {
            "format": "raw",
            "ingestion.ignore-errors": "true",
            "dirty-data.collector": "topic",
            "dirty-data.collector.topic": topic,
        },
        connect=lambda topic: {
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "errors.tolerance": "all",
            "errors.deadletterqueue.topic.name": topic,
        },
    ),
]
WRITES = [
    *clients("producer"),
    client("linger.ms", numbers, "producer"),
    client("compression.type", st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]), "producer"),
    shared("topics", names, option("topic"), spark=option("topic")),
    shared(
        "guarantee",
        names,
        lambda prefix: {
            "sink.delivery-guarantee": "exactly-once",
            "sink.transactional-id-prefix": prefix,
        },
        java=option("transactional.id"),
        connect=option("producer.override.transactional.id"),
    ),
    shared(
        "partitioner",
        st.just("round-robin"),
        option("sink.partitioner"),
        java=lambda _: {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"},
        connect=lambda _: {
            "producer.override.partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"
        },
    ),
    shared(
        "format",
        st.just("raw"),
        option("format"),
        java=lambda _: {"value.serializer": "org.apache.kafka.common.serialization.StringSerializer"},
        connect=lambda _: {"value.converter": "org.apache.kafka.connect.storage.StringConverter"},
    ),
]
SAYINGS = {Side.READ: READS, Side.WRITE: WRITES}


@st.composite
def said(draw: st.DrawFn, side: Side, *dialects: str) -> list[dict[str, str]]:
    """Draw things that some dialects can say, and return them as each of them says it."""
    sayable = [saying for saying in SAYINGS[side] if all(name in saying.spellings for name in dialects)]
    chosen = draw(st.lists(st.sampled_from(sayable), min_size=1, max_size=6, unique_by=lambda saying: saying.slot))
    texts: list[dict[str, str]] = [{} for _ in dialects]
    for saying in chosen:
        value = draw(saying.values)
        for text, name in zip(texts, dialects, strict=True):
            text.update(saying.spellings[name](value))
    return texts


@pytest.mark.parametrize("side", Side)
@given(pair=st.sampled_from(PAIRS), data=st.data())
def test_a_round_trip_is_the_identity(side: Side, pair: tuple[str, str], data: st.DataObject) -> None:
    source, target = (DIALECTS[name] for name in pair)
    before, after = data.draw(said(side, *pair))
    there = convert(OptionSet(before), source, target, side)
    assert (there.options, [line for line in there.lines if not line.is_complete]) == (after, [])
    back = convert(OptionSet(there.options), target, source, side)
    assert (back.options, back.is_complete) == (before, True)


option_names = st.sampled_from(
    sorted({name for saying in (*READS, *WRITES) for make in saying.spellings.values() for name in make("{}")})
) | st.text("abcAZ.-019", min_size=1, max_size=12)


@given(
    pair=st.sampled_from(PAIRS),
    options=st.dictionaries(option_names, st.text(max_size=8) | numbers, max_size=6),
    side=st.sampled_from(Side),
)
def test_nothing_vanishes_without_a_word(pair: tuple[str, str], options: dict[str, str], side: Side) -> None:
    assume("provider" not in options)
    source, target = (DIALECTS[name] for name in pair)
    lines = convert(OptionSet(options), source, target, side).lines
    named = [name for line in lines for name in line.before]
    assert (sorted(named), len(named)) == (sorted(options), len(set(named)))
    assert all(line.reason for line in lines if not line.is_complete or not line.after)


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


@given(
    name=st.sampled_from(list(DIALECTS)),
    options=st.dictionaries(texts.filter(str.strip), texts, min_size=1, max_size=5),
)
def test_a_text_is_read_as_it_was_written(name: str, options: dict[str, str]) -> None:
    written = {"connector": "kafka", **options} if name == "flink" else options
    if name == "flink":
        assume(options.get("connector", "kafka") == "kafka" and "connector.type" not in options)
    assert DIALECTS[name].parse(DIALECTS[name].format(written)).options == written
