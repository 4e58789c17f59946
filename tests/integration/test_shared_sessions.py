"""Workers that share the session of a transactional id, each a process of its own, on the real broker."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import FencedError, MillraceError
from millrace.sink.preflight import prepare
from support.far_broker import far_broker
from support.kafka import consume
from support.task_workers import Stops, task_workers
from support.waiting import wait_until

ROUNDS = 40


@pytest.fixture
def topic(make_topic):
    return make_topic(2)


@pytest.fixture
def config(connection, topic):
    return exactly_once(connection, topic)


@pytest.fixture
def stops(tmp_path):
    return Stops(tmp_path)


@pytest.fixture
def new_worker(config, stops):
    with task_workers(stops) as start:
        yield lambda: start(config)


@pytest.fixture
def values(broker, topic):
    return lambda: Counter(message.value().decode() for message in consume(broker.bootstrap_servers, topic))


def exactly_once(connection, topic):
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": f"p-{topic}"}
    return prepare(configure_sink({**connection, "topic": topic, **guarantee}))


def stop_beside(stops, point, owner, asking, batch, value):
    """Let one worker write the task of another one, and stop it in that."""
    stops.set(point)
    asking.start(batch, value)
    wait_until(stops.stopped, "the task to stop at its commit")
    assert stops.stopped() == [owner.pid]


def test_workers_that_have_the_task_in_turn_open_no_connection(stops):
    with far_broker() as (broker, proxy), task_workers(stops) as start:
        broker.create_topic("target", 2)
        config = exactly_once({"properties.bootstrap.servers": proxy.servers}, "target")
        workers = [start(config) for _ in range(2)]
        # The first one may have been begun by an earlier run, and the next one is the other worker's
        for batch in range(5):
            assert workers[batch % 2].write(batch, str(batch)).rows == 1
        proxy.take_traffic()
        for batch in range(5, 25):
            assert workers[batch % 2].write(batch, str(batch)).rows == 1
        traffic = proxy.take_traffic()
        assert traffic.connections == 0
        assert traffic.requests["InitProducerId"] == 0
        assert traffic.requests["EndTxn"] == 20
        written = Counter(message.value().decode() for message in consume(broker.bootstrap_servers, "target"))
    assert written == Counter(map(str, range(25)))


@pytest.mark.nightly
@pytest.mark.parametrize("point", ["before", "after"])
def test_rows_that_another_worker_had_when_it_was_killed_are_written_once(new_worker, values, stops, point):
    owner, asking = new_worker(), new_worker()
    owner.write(1, "a")
    stop_beside(stops, point, owner, asking, 2, "b")
    owner.kill()
    stops.go_on()
    assert asking.result().is_new
    assert asking.write(3, "c").rows == 1
    assert values() == Counter("abc")


@pytest.mark.nightly
def test_rows_of_a_worker_that_was_killed_while_another_one_had_them_are_written_once(new_worker, values, stops):
    owner, asking, third = (new_worker() for _ in range(3))
    owner.write(1, "a")
    stop_beside(stops, "before", owner, asking, 2, "b")
    asking.kill()
    stops.go_on()
    third.write(2, "b")
    third.write(3, "c")
    assert values() == Counter("abc")


@pytest.mark.nightly
def test_a_second_attempt_takes_over_from_one_that_another_worker_has_under_way(new_worker, values, stops):
    owner, first, second = (new_worker() for _ in range(3))
    owner.write(1, "a")
    stop_beside(stops, "before", owner, first, 2, "b")
    second.start(2, "b")
    wait_until(lambda: second.pid in stops.stopped(), "the second attempt to have written, too")
    stops.go_on()
    assert second.result().rows == 1
    assert first.result().is_skipped
    assert first.write(3, "c").rows == 1
    assert owner.write(4, "d").rows == 1
    assert values() == Counter("abcd")


@pytest.mark.nightly
def test_a_worker_that_gets_a_task_which_it_is_writing_for_another_one_takes_over(new_worker, values, stops):
    owner, asking = new_worker(), new_worker()
    owner.write(1, "a")
    stop_beside(stops, "before", owner, asking, 2, "b")
    owner.start(2, "b")
    wait_until(lambda: stops.stopped() == [owner.pid] * 2, "both attempts to have written")
    stops.go_on()
    assert owner.result().rows == 1
    assert asking.result().is_skipped
    assert values() == Counter("ab")


@pytest.mark.nightly
def test_many_rows_are_written_by_the_worker_that_has_them(new_worker, values):
    workers = [new_worker(), new_worker()]
    expected: Counter[str] = Counter()
    for batch, parts in enumerate((1, 1, 2, 1, 1, 2, 2, 2, 1, 1), start=1):
        written = [f"{batch}-{part}" for part in range(parts)]
        assert workers[batch % 2].write(batch, *written, parts=parts).rows == parts
        expected.update(written)
    assert values() == expected


@pytest.mark.nightly
def test_an_error_of_the_other_worker_is_that_of_the_task(new_worker, values):
    owner, asking = new_worker(), new_worker()
    owner.write(1, "a")
    asking.write(2, "b")
    with pytest.raises(MillraceError) as found:
        asking.write(3, "c" * 2_000_000)
    assert "Message size too large" in str(found.value)
    assert asking.write(3, "c").rows == 1
    assert values() == Counter("abc")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_random_workers_attempts_and_kills(new_worker, values, stops, seed):
    chance = random.Random(seed)
    workers = [new_worker() for _ in range(3)]
    expected: Counter[str] = Counter()
    for batch in range(1, ROUNDS):
        written = tuple(f"{batch}-{part}" for part in range(chance.choice((1, 1, 1, 2))))
        expected.update(written)
        living = attempts(batch, written, workers, stops, chance)
        stops.go_on()
        # All of them answer, whichever has written
        answers = [has_written(attempt, len(written)) for attempt in living]
        workers = [worker if worker.is_running() else new_worker() for worker in workers]
        if not any(answers):
            workers[0].start(batch, *written)
            assert has_written(workers[0], len(written))
    assert values() == expected


def attempts(batch, written, workers, stops, chance):
    """Begin one or two attempts of a task, kill some workers, and return those of the attempts that go on."""
    point = chance.choice((None, None, "before", "after"))
    if point is not None:
        stops.set(point)
    begun = chance.sample(workers, chance.choice((1, 1, 2)))
    for attempt in begun:
        start_and_await(attempt, batch, written, stops)
    for victim in chance.sample(workers, chance.choice((0, 0, 1, 2))) if point is not None else ():
        victim.kill()
    return [attempt for attempt in begun if attempt.is_running()]


def start_and_await(attempt, batch, written, stops):
    known = len(stops.stopped())
    attempt.start(batch, *written, parts=len(written))
    wait_until(lambda: attempt.has_answered() or len(stops.stopped()) > known, "an attempt to stop or to end")


def has_written(worker, rows):
    try:
        result = worker.result()
    except FencedError:
        # Its successor was killed
        return False
    assert result.is_skipped or result.rows == rows
    return True
