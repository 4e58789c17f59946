"""Answers of ``/healthz``."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import millrace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def health_answers(spark: SparkSession) -> Iterator[Callable[[], tuple[int, str]]]:
    """Let the reporter ``prometheus`` follow a session, which reports queries that stand still for a second.

    Yields:
        A function that returns the status and the sentence of ``/healthz``.
    """
    with millrace.report_metrics(spark, "prometheus", {"port": "0", "stalled-after-s": "1"}) as reports:
        url = reports.reporter.url.replace("metrics", "healthz")

        def ask() -> tuple[int, str]:
            try:
                with urllib.request.urlopen(url, timeout=20) as answer:
                    return answer.status, answer.read().decode().strip()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode().strip()

        yield ask
