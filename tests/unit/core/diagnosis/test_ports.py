"""Ports of the driver: those that are taken, and those that executors do not reach."""

from __future__ import annotations

import socket

import pytest

from millrace.diagnosis import ports
from millrace.diagnosis.findings import Level
from millrace.diagnosis.run import diagnose


@pytest.fixture
def taken() -> socket.socket:
    """A socket that listens, with its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def port_of(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return port_of(listening)


def test_the_port_that_sparks_ui_gets_is_told(taken: socket.socket) -> None:
    free = free_port()
    found = list(ports.check_ports(ui_ports=[port_of(taken), free]))[-1]
    assert (found.level, found.message) == (Level.OK, f"Spark's UI gets port {free}, the first one that is free")


def test_a_warning_tells_that_sparks_ui_gets_no_port(taken: socket.socket) -> None:
    found = list(ports.check_ports(ui_ports=[port_of(taken)]))[-1]
    assert (found.check, found.level) == ("ports", Level.WARNING)
    assert "'spark.ui.port' to 0" in found.remedy


def test_what_listens_on_the_port_of_a_broker_is_told(monkeypatch: pytest.MonkeyPatch, taken: socket.socket) -> None:
    monkeypatch.setattr(ports, "BROKER_PORT", port_of(taken))
    monkeypatch.setattr(ports.wire, "speaks_kafka", lambda *_: False)
    monkeypatch.setattr(ports.wire, "foreign_server", lambda *_: "a web server")
    assert next(iter(ports.check_ports())).message.startswith("a web server listens; 'millrace broker start' takes")

    monkeypatch.setattr(ports.wire, "speaks_kafka", lambda *_: True)
    assert next(iter(ports.check_ports())).message.startswith("a Kafka broker listens")

    monkeypatch.setattr(ports, "BROKER_PORT", free_port())
    assert next(iter(ports.check_ports())).message.startswith("free")


def test_an_executor_tells_whether_it_reaches_the_driver() -> None:
    driver = ports.MetricsPort("127.0.0.1", 0)
    assert driver.listen().level == Level.OK
    assert ports.check_driver(driver.host, driver.port).level == Level.OK

    driver.close()
    found = ports.check_driver(driver.host, driver.port)
    assert (found.level, "'scan.metrics.address' to an address of the driver's host" in found.remedy) == (
        Level.WARNING,
        True,
    )


@pytest.mark.parametrize(
    ("address", "check"), [("192.0.2.1", "ports"), ("127.0.0.1:{taken}", "ports"), ("a:b:c", "options"), ("", None)]
)
def test_a_place_where_the_driver_cannot_receive_metrics_is_told(
    taken: socket.socket, address: str, check: str | None
) -> None:
    diagnosis = diagnose({}, metrics_address=address.format(taken=port_of(taken)))
    found = [each for each in diagnosis.problems if each.check not in ("java", "packages")]
    assert [each.check for each in found] == ([check] if check else [])
