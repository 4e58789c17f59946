"""`millrace transactions` on real brokers: it finds what a dead producer left open, and ends that alone."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from confluent_kafka.admin import (
    AdminClient,
)

from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace_broker import KafkaCluster
from support.kafka import QUICK_BROKER, consume, produce
from support.names import unique_name
from support.open_transactions import ABORT_ALL, OpenTransactions, run_command, shows
from support.retrying import flush, retried
from support.tiers import nightly_but
from support.waiting import PATIENCE_S, sooner_than, wait_until


@pytest.fixture
def left(broker) -> Iterator[OpenTransactions]:
    here = OpenTransactions(broker.bootstrap_servers, unique_name("p"))
    yield here
    here.end()


def test_a_record_behind_a_dead_transaction_is_read_when_that_is_aborted(left, make_topic):
    topic = make_topic()
    left.open(f"{left.prefix}-0", topic, 0)
    produce(left.servers, topic, [{"value": b"after"}])
    assert consume(left.servers, topic) == []

    listed = left.run("list")
    assert (listed.exit_code, listed.stderr) == (0, "")
    heading, line = listed.stdout.splitlines()
    assert heading.split("  ")[0] == "transactional id"
    assert re.fullmatch(rf"{left.prefix}-0 +Ongoing +\S+Z +0:00:\d\d +{topic}-0", line)
    assert consume(left.servers, topic) == []

    aborted = left.run("abort", *ABORT_ALL)
    assert (aborted.exit_code, aborted.stderr) == (0, "")
    assert aborted.stdout.splitlines()[-1] == f"aborted {left.prefix}-0"
    assert [message.value() for message in consume(left.servers, topic)] == [b"after"]
    assert left.ids_now() == []


def test_transactions_of_other_prefixes_are_neither_listed_nor_touched(left, make_topic):
    topic, prefix = make_topic(), left.prefix
    others = [f"{prefix}2-0", f"{prefix}-x-0", f"{prefix}-0-0"]
    living = [left.open(each, topic, 0) for each in others]
    for task in (0, 3, 11):
        left.open(f"{prefix}-{task}", topic, 0)

    listed = json.loads(left.run("list", "--json").stdout)["transactions"]
    assert [each["transactional_id"] for each in listed] == [f"{prefix}-{task}" for task in (0, 3, 11)]

    aborted = left.run("abort", *ABORT_ALL)
    assert aborted.stdout.splitlines()[-3:] == [f"aborted {prefix}-{task}" for task in (0, 3, 11)]
    assert left.ids_now() == []
    for other in others:
        assert left.ids_now(other.rpartition("-")[0]) == [other]
    # Their producers are not fenced
    for producer in living:
        retried(producer.commit_transaction)
    assert len(consume(left.servers, topic)) == len(others)


def test_json_names_the_partitions_and_when_it_began(left, make_topic):
    first, second = make_topic(12), make_topic()
    producer = left.open(f"{left.prefix}-0", first, 10, 2)
    producer.produce(second, b"too")
    flush(producer)

    (listed,) = json.loads(left.run("list", "--json").stdout)["transactions"]

    assert listed["state"] == "Ongoing"
    assert [(at["topic"], at["partition"]) for at in listed["partitions"]] == [(first, 2), (first, 10), (second, 0)]
    assert 0 <= listed["open_seconds"] < 300
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed["began"])


def test_ids_without_an_open_transaction_are_left_alone(left, make_topic):
    topic = make_topic()
    committed = left.open(f"{left.prefix}-0", topic, 0)
    retried(committed.commit_transaction)

    assert left.run("list").output == f"no open transactions with prefix {left.prefix}\n"
    assert json.loads(left.run("list", "--json").stdout) == {"transactions": []}
    aborted = left.run("abort", *ABORT_ALL)
    assert (aborted.exit_code, aborted.output) == (0, f"no open transactions with prefix {left.prefix}\n")
    # Its producer is not fenced
    committed.begin_transaction()
    committed.produce(topic, b"more")
    retried(committed.commit_transaction)


def test_young_transactions_are_named_and_not_aborted(left, make_topic):
    topic, prefix = make_topic(), left.prefix
    left.open(f"{prefix}-0", topic, 0)
    wait_until(lambda: left.now()[0].open_ms() > 6_000, "a transaction to grow old")
    older_than = f"{left.now()[0].open_ms()}ms"
    living = [left.open(f"{prefix}-{task}", topic, 0) for task in (1, 2)]

    result = left.run("abort", "--yes", "--older-than", older_than)

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == f"aborted {prefix}-0"
    assert f"as the transactions of a live query do: {prefix}-1, {prefix}-2." in result.stderr
    assert "not aborted, since they began less than 6" in result.stderr
    assert left.ids_now() == [f"{prefix}-1", f"{prefix}-2"]
    for producer in living:
        retried(producer.commit_transaction)


def test_by_default_a_minute_is_young(left, make_topic):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)

    result = left.run("abort", "--yes")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("millrace: not aborted, since they began less than 60 s ago, as the tr")
    retried(living.commit_transaction)


def test_without_a_terminal_it_must_be_told_yes(left, make_topic):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)

    result = left.run("abort", "--older-than", "0s")

    assert result.exit_code == 1
    assert shows(result.stdout, f"{left.prefix}-0")
    assert result.stderr == (
        "millrace: nothing was aborted: there is no terminal to confirm at; give --yes to abort these\n"
    )
    retried(living.commit_transaction)


@contextmanager
def asked(left: OpenTransactions) -> Iterator[Callable[[str], tuple[int, str]]]:
    """Run `abort` at a terminal up to its question; gives what answers it, and returns exit code and screen."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "millrace_cli", "transactions", "abort", "--prefix", left.prefix]
    command += ["--bootstrap-servers", left.servers, "--older-than", "0s"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "COLUMNS": "200"}
    )
    os.close(theirs)
    screen = bytearray()

    def read_on() -> bool:
        try:
            data = os.read(ours, 4096)
        except OSError:
            # What Linux says when the other side is gone
            return False
        screen.extend(data)
        return bool(data)

    def answer(text: str) -> tuple[int, str]:
        os.write(ours, text.encode())
        while read_on():
            pass
        return process.wait(PATIENCE_S), screen.decode()

    try:
        while b"[y/N]" not in screen:
            assert read_on(), screen.decode()
        yield answer
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_at_a_terminal_it_asks_and_yes_aborts(left, make_topic):
    for task in (0, 1):
        left.open(f"{left.prefix}-{task}", make_topic(), 0)
    with asked(left) as answer:
        code, screen = answer("y\n")

    assert code == 0
    assert "abort these 2 transactions? [y/N]" in screen
    assert f"aborted {left.prefix}-0\r\naborted {left.prefix}-1\r\n" in screen
    assert left.ids_now() == []


@pytest.mark.parametrize("text", nightly_but(["n\n", "\n", "\x04"], "n\n"), ids=["no", "nothing", "Ctrl-D"])
def test_at_a_terminal_anything_else_aborts_nothing(left, make_topic, text):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)
    with asked(left) as answer:
        code, screen = answer(text)

    assert code == 1
    assert "abort this transaction? [y/N]" in screen
    assert screen.endswith("millrace: nothing was aborted\r\n")
    retried(living.commit_transaction)


@pytest.mark.nightly
def test_a_transaction_that_began_while_the_question_stood_is_not_aborted(left, make_topic):
    topic, name = make_topic(), f"{left.prefix}-0"
    left.open(name, topic, 0)
    with asked(left) as answer:
        living = left.open(name, topic, 0)
        code, screen = answer("y\n")

    assert code == 1
    assert "nothing was aborted: the transactions have ended in the meantime" in screen
    assert (
        f"since they began after the confirmation was asked for, as the transactions of a live query do: {name}."
        in screen
    )
    retried(living.commit_transaction)


def test_no_broker_is_one_clear_message():
    with sooner_than(RETRY_TIMEOUT_S, "the retries of a minute"):
        result = run_command("list", "--prefix", "p", "--bootstrap-servers", "127.0.0.1:1")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("millrace: no Kafka broker answered within 5 s at 127.0.0.1:1")


def test_a_property_that_the_client_does_not_know_is_told(left):
    result = left.run("list", "--property", "linger.mss=5")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no property 'linger.mss'; did you mean 'properties.linger.ms'?" in result.stderr


@pytest.mark.nightly
def test_without_its_library_it_is_said_what_to_install(left, tmp_path):
    # As in an older version of the library
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "__init__.py").touch()
    command = [sys.executable, "-m", "millrace_cli", "transactions", "list", "--prefix", left.prefix]
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [*command, "--bootstrap-servers", left.servers],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stdout) == (1, "")
    assert "needs kafka-python 3, which is not installed, or only in an older version" in result.stderr
    assert "pip install 'millrace-cli[transactions]'" in result.stderr


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(brokers=3, java_options=QUICK_BROKER) as running:
        yield running


@pytest.fixture
def left_in_cluster(cluster) -> Iterator[OpenTransactions]:
    here = OpenTransactions(cluster.bootstrap_servers, unique_name("p"))
    yield here
    here.end()


def coordinator(left: OpenTransactions, transactional_id: str) -> int:
    from kafka.admin import KafkaAdminClient

    with KafkaAdminClient(bootstrap_servers=left.servers.split(",")) as admin:
        return admin.describe_transactions([transactional_id])[transactional_id].coordinator_id


@pytest.mark.nightly
def test_transactions_of_all_coordinators_are_found_and_aborted(cluster, left_in_cluster):
    left = left_in_cluster
    topic = f"all-{left.prefix}"
    cluster.create_topic(topic)
    names = [f"{left.prefix}-{task}" for task in range(12)]
    for name in names:
        left.open(name, topic, 0)
    assert len({coordinator(left, name) for name in names}) > 1

    assert left.ids_now() == names
    assert left.run("abort", *ABORT_ALL).stdout.splitlines()[-12:] == [f"aborted {name}" for name in names]
    assert left.ids_now() == []


@pytest.mark.nightly
def test_a_commit_that_has_begun_is_brought_to_its_end(cluster, left_in_cluster):
    left = left_in_cluster
    topic, name = f"begun-{left.prefix}", f"{left.prefix}-0"
    cluster.create_topic(topic, partitions=3, replication=1)
    producer = left.open(name, topic, 0, 1, 2)
    metadata = retried(lambda: AdminClient({"bootstrap.servers": left.servers}).list_topics(topic, 30))
    leaders = {at.leader for at in metadata.topics[topic].partitions.values()}
    # Without this broker the commit cannot be told to all partitions
    gone = cluster.brokers[min(leaders - {coordinator(left, name)}) - 1]
    gone.kill()
    with ThreadPoolExecutor(1) as background:
        try:
            retried(producer.commit_transaction)
            wait_until(lambda: [each.state for each in left.now()] == ["PrepareCommit"], "a commit that cannot end")
            aborting = background.submit(left.run, "abort", *ABORT_ALL)
        finally:
            gone.start()
        result = aborting.result(PATIENCE_S)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"committed {name}, whose commit had begun"
    assert len(consume(left.servers, topic)) == 3
