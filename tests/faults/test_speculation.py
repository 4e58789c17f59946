"""Speculative attempts: Spark starts a slow task a second time, on another host, while the first attempt goes on."""

from __future__ import annotations

from collections import Counter

import pytest

from support.kafka import produce
from support.spark_programs import ON_CLUSTER, standalone_cluster

NUMBERS = 400
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.quantile": "0.5",
}


# On a busy machine Python processes that compile PySpark's archive, which `spark_home` has not, take longer to start
# than the 10 s that Spark waits
@pytest.fixture(scope="module")
def cluster(tmp_path_factory, spark_home):
    # Spark gives a second attempt to another host only
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), ["127.0.0.1", "127.0.0.2"]) as running:
        yield running


@pytest.fixture
def driver_of(cluster):
    """Start the driver of a copy on the cluster, with speculation."""

    def start(copy, point, ends, **config):
        config = {**ON_CLUSTER, **SPECULATION, "spark.master": cluster.url, **config}
        return copy.driver(point, ends=ends, config=config)

    return start


def test_an_attempt_that_was_fenced_waits_while_the_other_one_lives(
    driver_of, nothing_left, broker, make_topic, copying
):
    source = make_topic(4)
    produce(broker.bootstrap_servers, source, ({"value": b"%d" % n, "partition": n % 4} for n in range(NUMBERS)))
    copy = copying(broker.bootstrap_servers, source, make_topic(3), read={"scan.parallelism": "4"})
    copy.give_tokens(2)
    # An attempt that is given up would end the query
    with driver_of(copy, "before produce", "lag", **{"spark.task.maxFailures": "1"}) as running:
        running.result()
    assert copy.used() == 2
    assert copy.copied() == Counter(range(NUMBERS))
    assert copy.open_transactions() == {}


@pytest.mark.parametrize("point", ["before produce", "before commit", "after commit"])
def test_an_attempt_that_waits_is_replaced_and_each_row_is_written_once(
    driver_of, nothing_left, broker, make_topic, copying, point
):
    source = make_topic(4)
    produce(broker.bootstrap_servers, source, ({"value": b"%d" % n, "partition": n % 4} for n in range(NUMBERS)))
    copy = copying(broker.bootstrap_servers, source, make_topic(3), read={"scan.parallelism": "4"})
    copy.give_tokens(1)
    with driver_of(copy, point, "wait") as running:
        # The attempt that waits never ends by itself: the query ends because another one has taken its place
        running.result()
    assert copy.used() == 1
    assert copy.copied() == Counter(range(NUMBERS))
    assert copy.open_transactions() == {}
    assert copy.transactional_ids() == {f"{copy.prefix}-{task}" for task in range(4)}
