"""Reports of writes over real connections."""

from __future__ import annotations

import logging

import pytest

import millrace
from millrace.api.sink_metrics import MAX_PRODUCERS, add_report
from millrace.contracts.metrics import SinkMetrics
from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.sender import CONNECTIONS, send
from millrace.monitoring.sink_report import SinkReport
from millrace.options.values import split_address
from millrace.worker import RESOURCES

REPORT = SinkReport(
    records=10,
    size=100,
    send_errors=1,
    send_ms=7,
    duration_ms=500,
    tasks_failed=2,
    committed=3,
    aborted=2,
    skipped=1,
    producers={"p#producer-1": {"tx": 1}},
)


def address_of(metrics: millrace.SinkMetricsCollector) -> ReceiverAddress:
    options = metrics.options
    return ReceiverAddress(
        *split_address(options["sink.metrics.address"]), bytes.fromhex(options["sink.metrics.secret"])
    )


@pytest.fixture(autouse=True)
def _no_connection_remains():
    yield
    RESOURCES.drop(CONNECTIONS)


def test_what_is_told_is_in_the_snapshot_when_sending_returns() -> None:
    with millrace.SinkMetricsCollector() as metrics:
        assert metrics.metrics() == SinkMetrics()
        send(address_of(metrics), REPORT)
        assert metrics.metrics().to_dict() == {
            "numRecordsOut": 10,
            "numRecordsOutPerSecond": 20.0,
            "numBytesOut": 100,
            "numBytesOutPerSecond": 200.0,
            "numRecordsSendErrors": 1,
            "currentSendTime": 7,
            "transactionsCommitted": 3,
            "transactionsAborted": 2,
            "transactionsSkipped": 1,
            "tasksFailed": 2,
            "producers": {"p#producer-1": {"tx": 1}},
        }


def test_totals_are_added_up_and_rates_are_of_the_last() -> None:
    later = SinkReport(5, 25, duration_ms=1_000, committed=1, producers={"p#producer-2": {"tx": 2}})
    found = add_report(add_report(SinkMetrics(), REPORT), later)
    assert (found.num_records_out, found.num_bytes_out, found.num_records_send_errors) == (15, 125, 1)
    assert (found.num_records_out_per_second, found.num_bytes_out_per_second) == (5.0, 25.0)
    assert (found.transactions_committed, found.transactions_aborted, found.transactions_skipped) == (4, 2, 1)
    assert found.current_send_time == 7
    assert list(found.producers) == ["p#producer-1", "p#producer-2"]


def test_producers_that_were_not_heard_for_long_are_forgotten() -> None:
    found = add_report(SinkMetrics(), REPORT)
    for number in range(2, MAX_PRODUCERS + 2):
        found = add_report(found, SinkReport(producers={f"p#producer-{number}": {"tx": 1}}))
    assert len(found.producers) == MAX_PRODUCERS
    assert "p#producer-1" not in found.producers


def test_a_write_in_no_time_has_a_rate() -> None:
    assert add_report(SinkMetrics(), SinkReport(records=3)).num_records_out_per_second == 3_000.0


def test_each_report_is_heard_of_under_the_sinks_name() -> None:
    heard: list[tuple[str, object]] = []
    with millrace.SinkMetricsCollector(on_metrics=lambda *of: heard.append(of), name="copy") as collector:
        send(address_of(collector), REPORT)
        send(address_of(collector), REPORT)
        assert heard[-1] == ("copy", collector.metrics())
    assert len(heard) == 2


def test_a_report_counts_once_though_its_listener_fails(caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise ValueError("as the test wants")

    with millrace.SinkMetricsCollector(on_metrics=fail) as collector:
        send(address_of(collector), REPORT)
        assert collector.metrics().num_records_out == 10
    assert caplog.messages == ["on_metrics failed for sink 'sink'"]


def test_the_text_of_options_does_not_show_the_secret() -> None:
    with millrace.SinkMetricsCollector() as metrics:
        secret = metrics.options["sink.metrics.secret"]
        assert len(secret) == 32
        assert secret not in f"{metrics.options} {metrics!r} {metrics.options!r}"


def test_each_has_a_secret_of_its_own() -> None:
    with millrace.SinkMetricsCollector() as one, millrace.SinkMetricsCollector() as other:
        assert one.options["sink.metrics.secret"] != other.options["sink.metrics.secret"]


def test_where_nobody_listens_that_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with millrace.SinkMetricsCollector() as metrics:
        address = address_of(metrics)
        send(address, REPORT)
    with caplog.at_level(logging.WARNING):
        send(address, REPORT)
        send(address, REPORT)
    (message,) = caplog.messages
    assert message.startswith(f"nobody answers at 127.0.0.1:{address.port}, so that metrics lack what is written from")
    assert address.secret.hex() not in message
    assert metrics.metrics().num_records_out == 10


def test_an_address_that_is_not_this_machines_is_refused() -> None:
    with pytest.raises(OSError, match="assign requested address"):
        millrace.SinkMetricsCollector("192.0.2.1")


def test_what_is_no_report_is_refused() -> None:
    for sent in (b"[1]", b"{}}", b'{"unknown": 1}'):
        with pytest.raises(ValueError):  # noqa: PT011 - the kinds of rubbish differ
            SinkReport.from_bytes(sent)
