"""Check from executors what the driver has checked: they connect to brokers themselves."""

from __future__ import annotations

import dataclasses
import json
import platform
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from millrace.diagnosis.address import Address, check_address
from millrace.diagnosis.findings import Finding, Level, error, ok
from millrace.diagnosis.machine import installed_packages
from millrace.failures import sentence_of
from millrace.kafka.client_settings import client_settings
from millrace.options.secrets import Properties

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_TASKS_OF_CORE = 2


def check_executors(spark: SparkSession, client: Properties | None, addresses: Sequence[Address]) -> list[Finding]:
    """Let every executor that gets a task check its Python, its packages and addresses of brokers.

    Args:
        spark: The session.
        client: The client's properties; None to connect nowhere.
        addresses: The addresses.
    """

    def check(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        rows = [json.dumps(dataclasses.asdict(finding)) for finding in _check_here(client, addresses)]
        yield pyarrow.RecordBatch.from_pydict({"finding": rows})

    cores = int(str(spark.conf.get("spark.sql.shuffle.partitions", "2")))
    tasks = spark.range(0, cores * _TASKS_OF_CORE, numPartitions=cores * _TASKS_OF_CORE)
    try:
        rows = tasks.mapInArrow(check, "finding STRING").distinct().collect()
    except Exception as failure:
        return [
            error(
                "executors",
                "executors",
                sentence_of(failure),
                "install the same Python and packages for all executors as for the driver",
            )
        ]
    findings = [
        Finding(**{**found, "level": Level(found["level"])}) for found in map(json.loads, (row[0] for row in rows))
    ]
    return [*findings, *_version_differences(findings)]


def _check_here(client: Properties | None, addresses: Sequence[Address]) -> Iterator[Finding]:
    host = socket.gethostname()
    yield _seen(host, ok("python", sys.executable, platform.python_version()))
    yield _seen(host, ok("packages", "packages", json.dumps(installed_packages())))
    for address in addresses if client is not None else ():
        settings = client_settings(client or Properties({}))
        for step in check_address(address, settings):
            if step.check != "tls" or step.level != Level.OK:
                yield _seen(host, step)


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
        if finding.check == "packages":
            there = json.loads(finding.message)
            for name in sorted({*here, *there}):
                if here.get(name) != there.get(name):
                    yield Finding(
                        "packages",
                        name,
                        Level.ERROR,
                        f"executors have {there.get(name, 'none')}, the driver {here.get(name, 'none')}",
                        "install the same version everywhere",
                        finding.seen_from,
                    )
