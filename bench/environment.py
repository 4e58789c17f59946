"""The environment of a measurement: versions and the machine's size."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

import confluent_kafka
import psutil

from bench.connector_jars import KAFKA_CLIENTS, format_jars
from millrace_broker.java import find_java

if TYPE_CHECKING:
    from millrace_broker import KafkaBroker


def environment(broker: KafkaBroker) -> dict[str, str]:
    """Return names and values, in the order in which they are shown."""
    return {
        "millrace": version("millrace-core"),
        "PySpark and its own Kafka connector": version("pyspark"),
        "kafka-clients of Spark's own connector": KAFKA_CLIENTS,
        "Spark's own formats": ", ".join(jar.stem for jar in format_jars().values()) or "none",
        "confluent-kafka": version("confluent-kafka"),
        "librdkafka": confluent_kafka.libversion()[0],
        "pyarrow": version("pyarrow"),
        "Apache Kafka (broker)": broker.version,
        "Java": _java(),
        "Python": platform.python_version(),
        "System": f"{platform.system()} {platform.machine()}",
        "Cores": str(os.cpu_count()),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
    }


def _java() -> str:
    said = subprocess.run([str(find_java().path), "-version"], capture_output=True, text=True, check=True)
    match = re.search(r'version "([^"]+)"', said.stderr + said.stdout)
    return match[1] if match else "unknown"
