"""End the Java process of PySpark, for which PySpark has no public call.

It would outlive this process for a moment, and so would its files. `SparkContext._gateway` and `_jvm` are not public:
they are py4j's connection to that process, kept for the next session of this process.
"""

from __future__ import annotations

import contextlib
import subprocess

from pyspark import SparkContext

_EXIT_SECONDS = 20.0


def end_jvm() -> None:
    """End the Java process that PySpark has started, if any, and wait until it has exited."""
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    java: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if gateway is None or java is None:
        return
    with contextlib.suppress(Exception):
        gateway.shutdown()
    if java.stdin:
        with contextlib.suppress(OSError):
            java.stdin.close()
    try:
        java.wait(_EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
