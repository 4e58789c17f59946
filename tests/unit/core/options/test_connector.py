"""Every option of source and sink: its default, good values, wrong values. `CASES` must name them all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.parser import OptionParser

WHOLE_NUMBER = "expected a whole number"
NOT_NEGATIVE = "expected greater than or equal to 0"
SHARE = "expected a share from 0 to 1, such as 0.05 or 5 %"
ABOVE_ZERO = "expected greater than 0"
DURATION = "expected a duration such as '5 min', '30 s' or '500 ms'"
GUARANTEE = "expected one of none, at-least-once, exactly-once"
IN_DOUBT = "expected one of fail, compare, write, skip"
COMPARE_BY = "expected one of records, count"


@dataclass(frozen=True)
class Case:
    """Expectations of an option.

    Attributes:
        default: Its value when it is not given.
        good: Values by the text that gives them.
        wrong: What the error says was expected, by the text that is refused. Empty for names of plugins, which are
            looked up later, and for free text.
        aliases: Its other names.
    """

    default: Any
    good: dict[str, Any]
    wrong: dict[str, str]
    aliases: tuple[str, ...] = ()


CASES: dict[tuple[type, str], Case] = {
    (side, "topic"): Case(
        (),
        {"orders": ("orders",), "orders;audit": ("orders", "audit"), " a ; b ": ("a", "b"), "a.b-c_D": ("a.b-c_D",)},
        {
            "": "expected topic names separated by ';'",
            ";": "expected topic names separated by ';'",
            "a;;b": "expected topic names separated by ';'",
            "a;b;a": "expected each topic once, but a is repeated",
        },
    )
    for side in (SourceOptions, SinkOptions)
}
CASES |= {
    (side, name): case
    for side in (SourceOptions, SinkOptions)
    for name, case in {
        "value.format": Case(None, {"json": "json", "acme:Format": "acme:Format"}, {}, ("format",)),
        "key.format": Case(None, {"json": "json", "acme:Format": "acme:Format"}, {}),
        "key.fields": Case(
            (),
            {"id": ("id",), "k_id; Name": ("k_id", "Name")},
            {
                "": "expected column names separated by ';'",
                "id;;a": "expected column names separated by ';'",
                "id;a;id": "expected each column once, but id is repeated",
            },
        ),
        "key.fields-prefix": Case("", {"k_": "k_"}, {}),
        "value.fields-prefix": Case("", {"v_": "v_"}, {}),
        "value.fields-include": Case(
            "ALL", {"EXCEPT_KEY": "EXCEPT_KEY", "ALL": "ALL"}, {"KEY": "expected one of ALL, EXCEPT_KEY"}
        ),
        "metadata.columns": Case(
            (),
            {
                "timestamp AS event_time, partition": (("timestamp", "event_time"), ("partition", "partition")),
                "__raw_key__ as k": (("__raw_key__", "k"),),
                "value.source.table AS t": (("value.source.table", "t"),),
            },
            {
                "time": "expected keys out of topic, partition, offset, timestamp, ",
                "timestamp event_time": "expected metadata columns such as 'timestamp AS event_time, partition'",
                "topic AS a, offset AS a": "expected each column once, but a is repeated",
            },
            ("metadata.list",),
        ),
        "connector": Case(
            "kafka",
            {"kafka": "kafka", " upsert-kafka ": "upsert-kafka"},
            {"hologres": "expected kafka or upsert-kafka, the connectors of millrace; got 'hologres'"},
        ),
        "changelog.row-kind-column": Case("row_kind", {"op": "op"}, {}),
        "columns": Case(
            (),
            {"id INT, *": (("id", "id INT"), ("*", "*"))},
            {"id": "expected columns with their types", "a INT, a INT": "expected each column once"},
        ),
        "topic-pattern": Case(
            None,
            {"orders-[0-9]": "orders-[0-9]"},
            {"orders(": "expected a regular expression: missing ) at position 7"},
        ),
    }.items()
}
CASES |= {
    (SourceOptions, name): case
    for name, case in {
        "commit.offsets.on.checkpoint": Case(
            None,
            {"true": True, "false": False},
            {"maybe": "expected true or false"},
            ("properties.commit.offsets.on.checkpoint",),
        ),
        "topic-partitions": Case(
            (),
            {"a:0,1;b:3": (("a", 0), ("a", 1), ("b", 3)), " a : 0 , 1 ": (("a", 0), ("a", 1))},
            {
                "a": "expected partitions such as 'orders:0,1;audit:3'",
                "a:0;": "expected partitions such as 'orders:0,1;audit:3'",
                "a:-1": "expected partitions such as 'orders:0,1;audit:3'",
                "a:0,0": "expected each partition once",
            },
        ),
        "scan.startup.mode": Case(None, {"earliest-offset": "earliest-offset"}, {}),
        "properties.auto.offset.reset": Case(
            "none",
            {"earliest": "earliest", "latest": "latest"},
            {"smallest": "expected one of earliest, latest, none", "error": "expected one of earliest, latest, none"},
        ),
        "scan.bounded.mode": Case(None, {"latest-offset": "latest-offset", "unbounded": None}, {}),
        "scan.max-records-per-batch": Case(
            None,
            {"1": 1, "5000000000": 5_000_000_000},
            {"0": ABOVE_ZERO, "-1": ABOVE_ZERO, "many": WHOLE_NUMBER, "1.5": WHOLE_NUMBER, "": WHOLE_NUMBER},
            ("maxOffsetsPerTrigger",),
        ),
        "scan.max.pre.fetch.records": Case(50, {"0": 0, "500": 500}, {"-1": NOT_NEGATIVE, "many": WHOLE_NUMBER}),
        "infer-schema.max-columns": Case(2_000, {"10000": 10_000}, {"0": ABOVE_ZERO, "many": WHOLE_NUMBER}),
        "table-name": Case(None, {"orders": "orders"}, {}),
        "client.id.prefix": Case(None, {"orders": "orders"}, {}, ("properties.client.id.prefix",)),
        "register.consumer.metrics": Case(
            True,
            {"true": True, "false": False},
            {"sometimes": "expected true or false"},
            ("properties.register.consumer.metrics",),
        ),
        "changelog.primary-key": Case(
            (), {"id;country": ("id", "country")}, {"id;id": "expected each column once, but id is repeated"}
        ),
        "changelog.mode": Case(
            "retract", {"upsert": "upsert"}, {"append": "expected one of retract, upsert; got 'append'"}
        ),
        "state.checkpoints.dir": Case(
            None, {"hdfs://n/state": "hdfs://n/state", "state": str(Path("state").absolute())}, {}
        ),
        "state.checkpoints.num-retained": Case(100, {"3": 3}, {"0": ABOVE_ZERO}),
        "state.backend": Case("lmdb", {"rocksdb": "rocksdb"}, {}, ("state.backend.type",)),
        "scan.metrics.address": Case(
            "127.0.0.1",
            {"10.0.0.7": "10.0.0.7", "": "", "driver:7077": "driver:7077"},
            {"a b": "expected an address as host or host:port"},
        ),
        "scan.check.duplicated.group.id": Case(
            False, {"true": True, "false": False}, {"sometimes": "expected true or false"}
        ),
        "scan.min-records-per-batch": Case(
            None, {"1": 1, "500": 500}, {"0": ABOVE_ZERO, "few": WHOLE_NUMBER}, ("minOffsetsPerTrigger",)
        ),
        "scan.max-batch-delay": Case(
            900_000, {"15m": 900_000, "30 s": 30_000}, {"soon": DURATION}, ("maxTriggerDelay",)
        ),
        "scan.parallelism": Case(None, {"8": 8}, {"0": ABOVE_ZERO, "all": WHOLE_NUMBER}, ("minPartitions",)),
        "scan.split.max-records": Case(
            None, {"1000": 1000}, {"0": ABOVE_ZERO, "all": WHOLE_NUMBER}, ("maxRecordsPerPartition",)
        ),
        "scan.fail-on-data-loss": Case(
            True, {"true": True, "false": False}, {"no way": "expected true or false"}, ("failOnDataLoss",)
        ),
        "scan.watermark.alignment.max-drift": Case(
            None, {"30 s": 30_000, "5 min": 300_000}, {"0": ABOVE_ZERO, "-1 s": ABOVE_ZERO, "none": DURATION}
        ),
        "scan.watermark.idle-timeout": Case(
            None, {"1 min": 60_000, "0": 0}, {"never": DURATION}, ("table.exec.source.idle-timeout",)
        ),
        "scan.max-bytes-per-batch": Case(
            None,
            {"1": 1, "1048576": 1_048_576},
            {"0": ABOVE_ZERO, "1 mb": WHOLE_NUMBER, "": WHOLE_NUMBER},
            ("maxBytesPerTrigger",),
        ),
        "scan.topic-partition-discovery.interval": Case(
            300_000,
            {"5 min": 300_000, "30s": 30_000, "250": 250, "0": 0, "-1": -1},
            {"": DURATION, "5 fortnights": DURATION, "soon": DURATION, "1.5 s": DURATION},
            ("partition.discovery.interval.ms", "properties.partition.discovery.interval.ms"),
        ),
        "ingestion.ignore-errors": Case(False, {"true": True, "false": False}, {"sometimes": "expected true or false"}),
        "ingestion.error-tolerance.max-count": Case(
            -1,
            {"-1": -1, "0": 0, "1000": 1000},
            {"-2": "expected greater than or equal to -1", "some": WHOLE_NUMBER},
        ),
        "dirty-data.max-ratio": Case(
            None,
            {"0.05": 0.05, "5 %": 0.05, "0": 0.0, "1": 1.0},
            {"1.5": SHARE, "-1": SHARE, "few": SHARE, "nan": SHARE},
        ),
        "dirty-data.max-consecutive": Case(None, {"0": 0, "20": 20}, {"-1": NOT_NEGATIVE, "some": WHOLE_NUMBER}),
        "dirty-data.collector": Case(
            None,
            {"logger": "logger", "module:Class": "module:Class"},
            {},
            ("dirty-data.collector.type",),
        ),
        "scan.filter-pushdown": Case(False, {"true": True, "false": False}, {"some": "expected true or false"}),
        "scan.filter-pushdown.max-disorder": Case(
            None, {"0": 0, "8 s": 8_000}, {"-1 s": NOT_NEGATIVE, "some": DURATION}
        ),
        "scan.filter-pushdown.key-partitioner": Case(None, {"default": "default"}, {}),
        "scan.filter-pushdown.report": Case(None, {"/tmp/filters": "/tmp/filters"}, {}),
        "scan.header-filter": Case(None, {"depart:toy": "depart:toy"}, {}),
        "scan.filter.language": Case("expression", {"sql": "sql"}, {}),
        "includeHeaders": Case(
            False,
            {"true": True, "TRUE": True, "false": False},
            {"maybe": "expected true or false", "": "expected true"},
        ),
    }.items()
}
CASES |= {
    (SinkOptions, name): case
    for name, case in {
        "sink.delivery-guarantee": Case(
            "at-least-once",
            {each: each for each in ("none", "at-least-once", "exactly-once")},
            {"at-most-once": GUARANTEE, "": GUARANTEE},
            ("sink.semantic",),
        ),
        "sink.transactional-id-prefix": Case(None, {"orders-copy": "orders-copy"}, {}),
        "sink.exactly-once.if-in-doubt": Case(
            "fail", {each: each for each in ("fail", "compare", "write", "skip")}, {"": IN_DOUBT, "stop": IN_DOUBT}
        ),
        "sink.exactly-once.compare-by": Case(
            "records", {each: each for each in ("records", "count")}, {"rows": COMPARE_BY}
        ),
        "sink.partitioner": Case("default", {"fixed": "fixed", "acme.geo:Geo": "acme.geo:Geo"}, {}),
        "sink.buffer-flush.max-rows": Case(0, {"0": 0, "500": 500}, {"-1": NOT_NEGATIVE, "many": WHOLE_NUMBER}),
        "sink.buffer-flush.interval": Case(
            0, {"10 ms": 10, "0": 0, "1 min": 60_000}, {"-1 s": NOT_NEGATIVE, "soon": DURATION}
        ),
        "sink.metrics.address": Case(
            None,
            {"127.0.0.1:7079": "127.0.0.1:7079", "laptop:1": "laptop:1"},
            {"127.0.0.1": "expected an address as host:port", "": "expected an address as host or host:port"},
        ),
        # What is refused is not shown: see below
        "sink.metrics.secret": Case(None, {"00ff": b"\x00\xff"}, {}),
        "register.producer.metrics": Case(
            True,
            {"true": True, "false": False},
            {"sometimes": "expected true or false"},
            ("properties.register.producer.metrics",),
        ),
        "sink.topic.create": Case(False, {"true": True, "false": False}, {"maybe": "expected true or false"}),
        "sink.topic.create.partitions": Case(
            None, {"12": 12}, {"0": ABOVE_ZERO, "-1": ABOVE_ZERO, "all": WHOLE_NUMBER}
        ),
        "sink.topic.create.replication-factor": Case(
            None, {"3": 3}, {"0": ABOVE_ZERO, "-1": ABOVE_ZERO, "all": WHOLE_NUMBER}
        ),
    }.items()
}

DECLARED = {(side, info.name) for side in (SourceOptions, SinkOptions) for info in options_of(side).values()}


def value_of(options: Any, name: str) -> Any:
    (field,) = (field for field, info in options_of(type(options)).items() if info.name == name)
    return getattr(options, field)


def take(side: type, given: dict[str, str]) -> Any:
    parser = OptionParser("millrace", given)
    taken = parser.take(side)
    parser.finish()
    return taken


def name_of(case: object) -> str:
    return f"{case[0].__name__}-{case[1]}" if isinstance(case, tuple) else ""


each_option = pytest.mark.parametrize("option", list(CASES), ids=name_of)


def test_every_declared_option_has_a_case() -> None:
    assert set(CASES) == DECLARED


def test_every_field_of_the_dataclasses_is_an_option() -> None:
    for side in (SourceOptions, SinkOptions):
        assert set(options_of(side)) == {field.name for field in fields(side)}


def test_no_two_options_of_a_side_share_a_name() -> None:
    for side in (SourceOptions, SinkOptions):
        names = [name.lower() for info in options_of(side).values() for name in (info.name, *info.aliases)]
        assert len(names) == len(set(names))


@each_option
def test_the_meaning_is_said_in_sentences(option: tuple[type, str]) -> None:
    (info,) = (info for info in options_of(option[0]).values() if info.name == option[1])
    assert info.doc.endswith(".")
    assert "\n" not in info.doc


@each_option
def test_the_default_holds_when_nothing_is_given(option: tuple[type, str]) -> None:
    assert value_of(option[0](), option[1]) == CASES[option].default
    assert value_of(take(option[0], {}), option[1]) == CASES[option].default


@each_option
def test_aliases_are_as_listed(option: tuple[type, str]) -> None:
    (info,) = (info for info in options_of(option[0]).values() if info.name == option[1])
    assert info.aliases == CASES[option].aliases


@pytest.mark.parametrize(
    ("option", "text"), [(option, text) for option, case in CASES.items() for text in case.good], ids=name_of
)
def test_a_good_value_is_parsed_under_every_name_in_any_case(option: tuple[type, str], text: str) -> None:
    side, name = option
    for spelled in (name, *CASES[option].aliases):
        for cased in (spelled, spelled.lower(), spelled.upper()):
            parsed = value_of(take(side, {cased: text}), name)
            assert parsed == CASES[option].good[text]
            assert type(parsed) is type(CASES[option].good[text])


@pytest.mark.parametrize(
    ("option", "text"), [(option, text) for option, case in CASES.items() for text in case.wrong], ids=name_of
)
def test_a_wrong_value_is_refused_with_the_options_name_what_was_expected_and_what_came(
    option: tuple[type, str], text: str
) -> None:
    side, name = option
    with pytest.raises(OptionsError) as error:
        take(side, {name.lower(): text})
    (problem,) = error.value.problems
    assert problem.startswith(f"option {name!r}: {CASES[option].wrong[text]}")
    assert problem.endswith(f"; got {text!r}")


@pytest.mark.parametrize("text", ["", "hush", "0"])
def test_a_secret_that_is_refused_is_not_shown(text: str) -> None:
    with pytest.raises(OptionsError) as error:
        take(SinkOptions, {"sink.metrics.secret": text})
    assert error.value.problems == (
        "option 'sink.metrics.secret': expected hexadecimal digits, as in SinkMetricsCollector.options; got a "
        "value that is not shown",
    )


def test_a_nearly_right_enum_value_is_named() -> None:
    with pytest.raises(
        OptionsError, match=r"none, at-least-once, exactly-once \(did you mean 'at-least-once'\?\); got 'at-least-one'"
    ):
        take(SinkOptions, {"sink.delivery-guarantee": "at-least-one"})


def test_an_enum_value_may_be_in_other_case() -> None:
    assert take(SinkOptions, {"sink.delivery-guarantee": "AT-LEAST-ONCE"}).delivery_guarantee == "at-least-once"
