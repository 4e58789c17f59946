import json

import pytest

from millrace_cli.demo.query_progress import Batches, Rate, batch_of, lag_of


def offset(**topics):
    return json.dumps({"v": 1, "topics": topics})


def progress(number, rows=10, milliseconds=100, **durations):
    return {
        "batchId": number,
        "numInputRows": rows,
        "durationMs": {"addBatch": 1, "triggerExecution": milliseconds, **durations},
        "sources": [{"latestOffset": offset(orders={"0": 50}), "endOffset": offset(orders={"0": 42})}],
    }


def test_lag_is_what_is_left_of_each_partition():
    latest = offset(orders={"0": 50, "1": 7}, audit={"0": 3})
    end = offset(orders={"0": 42, "1": 7}, audit={"0": 1})
    assert lag_of(latest, end) == {("orders", 0): 8, ("orders", 1): 0, ("audit", 0): 2}


def test_lag_of_a_partition_that_is_not_read_yet_is_all_of_it():
    assert lag_of(offset(orders={"0": 5, "1": 9}), offset(orders={"0": 5})) == {("orders", 0): 0, ("orders", 1): 9}


def test_lag_is_never_negative():
    assert lag_of(offset(orders={"0": 5}), offset(orders={"0": 9})) == {("orders", 0): 0}


@pytest.mark.parametrize("nothing", [None, "", "null"])
def test_lag_is_unknown_before_the_source_looked(nothing):
    assert lag_of(nothing, offset(orders={"0": 9})) == {}


def test_a_batch_has_the_numbers_of_the_progress():
    batch = batch_of(progress(3, rows=120, milliseconds=450))
    assert batch is not None
    assert (batch.number, batch.rows_in, batch.milliseconds, batch.lag) == (3, 120, 450, {("orders", 0): 8})


def test_an_idle_trigger_is_no_batch():
    idle = progress(3)
    del idle["durationMs"]["addBatch"]
    assert batch_of(idle) is None


def test_a_batch_told_twice_counts_once():
    batches = Batches()
    batches.add([progress(0, 10, 100), progress(1, 20, 300)])
    batches.add([progress(1, 20, 300), progress(2, 5, 200)])
    assert (len(batches), batches.rows_in, batches.median_milliseconds) == (3, 35, 200)
    assert batches.last is not None
    assert batches.last.number == 2


def test_without_batches_the_median_is_zero():
    assert Batches().median_milliseconds == 0


def test_rate_is_the_growth_over_the_time_looked_back():
    rate = Rate(seconds=2.0)
    assert rate.update(10.0, 0) == 0
    assert rate.update(11.0, 100) == 100
    assert rate.update(12.0, 300) == 150
    assert rate.update(13.0, 300) == 100  # from 11.0 on
    assert rate.update(14.0, 300) == 0


def test_rate_bridges_a_pause_between_two_looks():
    rate = Rate(seconds=2.0)
    rate.update(0.0, 0)
    rate.update(1.0, 10)
    assert rate.update(11.0, 110) == 10
