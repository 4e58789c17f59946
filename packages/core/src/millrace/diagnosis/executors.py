"""Check from executors what the driver has checked: they connect to brokers themselves."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.diagnosis import clock
from millrace.diagnosis.address import Address, check_address
from millrace.diagnosis.advertised import check_advertised
from millrace.diagnosis.cluster import ConnectedCheck
from millrace.diagnosis.findings import Finding, Level, error, ok, warning
from millrace.diagnosis.packages import IMPORTED_BY_SPARK, META_DISTRIBUTION, installed_packages, unusable_packages
from millrace.diagnosis.ports import check_driver
from millrace.failures import sentence_of
from millrace.kafka.client_settings import client_settings
from millrace.options.secrets import Properties
from millrace.spark_python import DEFAULT_PYTHON, WORKER_PYTHON

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_TASKS_OF_CORE = 2
_SERVERS = "bootstrap.servers"
_MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")


def check_executors(
    spark: SparkSession,
    client: Properties | None,
    addresses: Sequence[Address],
    advertised: Mapping[Address, int],
    driver: tuple[str, int] | None,
) -> list[Finding]:
    """Let every executor that gets a task check its Python, packages and clock, brokers, its login and the driver.

    Args:
        spark: The session.
        client: The client's properties; None to connect nowhere.
        addresses: The addresses of the user.
        advertised: The addresses that brokers advertise, with the brokers' ids.
        driver: Host and port at which the driver receives metrics; None if it does not.
    """

    def check(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        rows = [
            json.dumps(dataclasses.asdict(finding)) for finding in _check_here(client, addresses, advertised, driver)
        ]
        yield pyarrow.RecordBatch.from_pydict({"finding": rows})

    for unusable in unusable_packages():
        reason = f"not checked, since the driver's Python cannot import {unusable.target}"
        return [warning("executors", "executors", reason, unusable.remedy)]
    cores = int(str(spark.conf.get("spark.sql.shuffle.partitions", "2")))
    tasks = spark.range(0, cores * _TASKS_OF_CORE, numPartitions=cores * _TASKS_OF_CORE)
    asked = clock.now()
    try:
        rows = tasks.mapInArrow(check, "finding STRING").distinct().collect()
    except Exception as failure:
        return [error("executors", "executors", sentence_of(failure), remedy_for(str(failure)))]
    answered = clock.now()
    all_findings = [
        Finding(**{**fields, "level": Level(fields["level"])}) for fields in map(json.loads, (row[0] for row in rows))
    ]
    findings = [finding for finding in all_findings if finding.check != "clock"]
    clocks = compare_clocks((finding for finding in all_findings if finding.check == "clock"), asked, answered)
    return [*findings, *clocks, *_version_differences(findings)]


def remedy_for(failure: str) -> str:
    """Return what to do where no executor has run its checks."""
    missing = _MISSING_MODULE.search(failure)
    if missing is None:
        return "install the same Python and packages for all executors as for the driver"
    module = missing[1].partition(".")[0]
    package = META_DISTRIBUTION if "millrace" in module else IMPORTED_BY_SPARK.get(module, module)
    python = os.environ.get(WORKER_PYTHON, DEFAULT_PYTHON)
    return f"on each executor's host: {python} -m pip install '{package}'"


def compare_clocks(findings: Iterable[Finding], asked: float, answered: float) -> list[Finding]:
    """Compare the clocks of executors with this host's.

    Args:
        findings: Findings whose messages are times of executors, in seconds since 1970.
        asked: This host's time before the executors were asked.
        answered: This host's time when they had answered.

    Returns:
        A finding for each host, of its time that differs most.
    """
    readings: dict[str, clock.Reading] = {}
    for finding in findings:
        reading = clock.Reading(float(finding.message), asked, answered)
        host = finding.seen_from
        readings[host] = max(readings.get(host, reading), reading, key=lambda candidate: abs(candidate.ahead_s))
    return [_seen(host, clock.compare(reading, "its clock", host)) for host, reading in readings.items()]


def _check_here(
    client: Properties | None,
    addresses: Sequence[Address],
    advertised: Mapping[Address, int],
    driver: tuple[str, int] | None,
) -> Iterator[Finding]:
    host = socket.gethostname()
    yield _seen(host, ok("clock", host, repr(clock.now())))
    yield _seen(host, ok("python", sys.executable, platform.python_version()))
    yield _seen(host, ok("packages", "packages", json.dumps(installed_packages())))
    yield from (_seen(host, finding) for finding in unusable_packages())
    if driver is not None:
        yield _seen(host, check_driver(*driver))
    if client is None:
        return
    settings = client_settings(client)
    steps = [step for address in addresses for step in check_address(address, settings)]
    yield from (_seen(host, step) for step in steps if step.check != "tls" or step.level != Level.OK)
    yield from (_seen(host, finding) for finding in check_advertised(advertised, addresses, client[_SERVERS], settings))
    if all(step.level != Level.ERROR for step in steps):
        # Files, tickets and tokens may be the driver's alone
        login = ConnectedCheck(client, client[_SERVERS]).login()
        yield _seen(host, login if login.level == Level.ERROR else ok("login", login.target, "connected"))


def _seen(host: str, finding: Finding) -> Finding:
    return dataclasses.replace(finding, seen_from=host)


def _version_differences(findings: Sequence[Finding]) -> Iterator[Finding]:
    here = installed_packages()
    python = platform.python_version_tuple()[:2]
    for finding in findings:
        if finding.check == "python" and tuple(finding.message.split(".")[:2]) != python:
            yield Finding(
                "python",
                finding.target,
                Level.ERROR,
                f"executors have Python {finding.message}, the driver {platform.python_version()}",
                "let PYSPARK_PYTHON name the same version for both",
                finding.seen_from,
            )
        if finding.check == "packages" and finding.level == Level.OK:
            there = json.loads(finding.message)
            for name in sorted({*here, *there}):
                if here.get(name) != there.get(name):
                    yield Finding(
                        "packages",
                        name,
                        Level.ERROR,
                        f"executors have {there.get(name, 'none')}, the driver {here.get(name, 'none')}",
                        f"install {name} {here.get(name) or there[name]} everywhere",
                        finding.seen_from,
                    )
