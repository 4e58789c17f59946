from __future__ import annotations

from millrace_ui.query_history import MAX_LAG_SAMPLES, MAX_QUERIES, MAX_SAMPLES, Histories
from support.query_reports import partition, report, source


def test_a_micro_batch_adds_its_figures() -> None:
    histories = Histories()
    histories.add(report(3, 4))
    history = histories.history("id-1")
    assert history is not None
    (sample,) = history.samples
    assert (sample.lag, sample.rows, sample.age_ms, sample.phases["triggerExecution"]) == (7, 7, 1500, 100)
    assert history.partitions == {"orders-0": 0, "orders-1": 1}
    assert [list(lags) for _, lags in history.lags] == [[3, 4]]


def test_an_idle_interval_adds_none() -> None:
    histories = Histories()
    histories.add(report(3))
    histories.add(report(3, time=1010.0, has_run=False))
    history = histories.history("id-1")
    assert history is not None
    assert (len(history.samples), history.report.time) == (1, 1010.0)


def test_a_partition_that_comes_later_has_a_lag_from_then_on() -> None:
    histories = Histories()
    histories.add(report(3, batch=0))
    histories.add(report(sources=(source(partition(0, 1), partition(5, 9)),), batch=1))
    history = histories.history("id-1")
    assert history is not None
    assert [list(lags) for _, lags in history.lags] == [[3], [1, 9]]


def test_memory_is_bounded() -> None:
    histories = Histories()
    for batch in range(MAX_SAMPLES + 50):
        histories.add(report(1, batch=batch))
    for number in range(MAX_QUERIES + 5):
        histories.add(report(query_id=f"other-{number}", run_id=f"run-{number}"))
    assert len(histories.reports()) == MAX_QUERIES
    histories.add(report(1, query_id="long"))
    for batch in range(MAX_SAMPLES + 50):
        histories.add(report(1, batch=batch, query_id="long"))
    history = histories.history("long")
    assert history is not None
    assert (len(history.samples), len(history.lags)) == (MAX_SAMPLES, MAX_LAG_SAMPLES)


def test_queries_that_have_ended_are_forgotten_first() -> None:
    histories = Histories()
    for number in range(MAX_QUERIES):
        histories.add(report(query_id=f"id-{number}", is_active=number != 3))
    histories.add(report(query_id="new"))
    assert histories.history("id-3") is None
    assert histories.history("id-0") is not None


def test_another_run_of_a_query_begins_anew() -> None:
    histories = Histories()
    histories.add(report(3, batch=0))
    histories.add(report(5, batch=8, run_id="run-2"))
    history = histories.history("id-1")
    assert history is not None
    assert [sample.batch_id for sample in history.samples] == [8]
