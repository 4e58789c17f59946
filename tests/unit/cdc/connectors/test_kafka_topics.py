"""The topics of the tables of Kafka as a sink."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError, SchemaError
from millrace.options.parser import OptionParser
from millrace_cdc.connectors.kafka import topics
from millrace_cdc.connectors.kafka.sink_options import KafkaSinkOptions
from millrace_cdc.connectors.kafka.topics import SinkTopics


class Cluster:
    """Topics of a cluster, instead of brokers."""

    def __init__(self, *names: str) -> None:
        self.topics = set(names)
        self.lookups = 0
        self.small: set[str] = set()
        self.created: list[tuple] = []

    def names(self) -> list[str]:
        self.lookups += 1
        return sorted(self.topics)

    def create_missing(self, names, partitions, replication_factor, config) -> None:
        self.created.append((names, partitions, replication_factor, config))
        self.topics.update(names)

    def fitting_batch_size(self, names) -> str | None:
        return "5000" if self.small & set(names) else None


@pytest.fixture
def cluster(monkeypatch) -> Cluster:
    made = Cluster("shop.there")
    monkeypatch.setattr(topics, "Topics", lambda client: made)
    return made


def options(**given: str) -> KafkaSinkOptions:
    parser = OptionParser("sink", {"properties.bootstrap.servers": "localhost:9092", **given})
    parsed = parser.take(KafkaSinkOptions)
    parser.finish()
    return parsed


def sink_topics(**given: str) -> SinkTopics:
    return SinkTopics(options(**given))


def test_missing_topics_are_created_once_with_what_the_options_say(cluster):
    given = {
        "sink.topic.create.partitions": "3",
        "sink.topic.create.replication-factor": "2",
        "sink.topic.create.config.cleanup.policy": "compact",
        "sink.tableId-to-topic.mapping": r"shop.o_\.*:orders",
    }
    found = sink_topics(**given)
    names = {"shop.o_1": "orders", "shop.o_2": "orders", "shop.there": "shop.there", "shop.u": "shop.u"}
    assert [each.exists for each in found.look_up(names)] == [False, False, True, False]
    assert cluster.created == []
    for _ in range(2):
        assert found.prepare(names) == names
    assert cluster.created == [(["orders", "shop.u"], 3, 2, {"cleanup.policy": "compact"})]
    assert cluster.lookups == 2
    found.prepare(["shop.later"])
    assert cluster.created[1:] == [(["shop.later"], 3, 2, {"cleanup.policy": "compact"})]


def test_by_default_the_brokers_decide_on_partitions_and_copies(cluster):
    sink_topics().prepare(["shop.u"])
    assert cluster.created == [(["shop.u"], None, None, {})]


def test_batches_fit_all_topics_that_are_written(cluster):
    cluster.small.add("shop.u")
    found = sink_topics()
    found.prepare(["shop.there"])
    assert found.writing_options() == {"properties.bootstrap.servers": "localhost:9092"}
    for tables in (["shop.u"], ["shop.there"]):
        found.prepare(tables)
        assert found.writing_options()["properties.batch.size"] == "5000"


@pytest.mark.parametrize(
    ("table", "given", "problem"),
    [
        ("shop.u", {"sink.topic.create": "false"}, "table 'shop.u' goes to topic 'shop.u', which does not exist: cre"),
        ("shop.größe", {}, "table 'shop.größe' would go to topic 'shop.größe', and Kafka allows up to 249 letters"),
    ],
)
def test_a_plan_has_the_problem_that_ends_a_run(cluster, table, given, problem):
    found = sink_topics(**given)
    (_, other) = found.look_up(["shop.there", table])
    assert other.problem is not None
    assert other.problem.startswith(problem)
    with pytest.raises(SchemaError) as error:
        found.prepare([table])
    assert str(error.value) == other.problem
    assert cluster.created == []
    assert found.prepare(["shop.there"]) == {"shop.there": "shop.there"}


def test_wrong_properties_of_the_client_are_named():
    wrong = sink_topics(**{"properties.security.protocol": "NONSENSE"})
    with pytest.raises(OptionsError, match=r"security\.protocol"):
        wrong.look_up(["shop.u"])
