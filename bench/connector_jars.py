"""Fetch the jars of Spark's own Kafka connector and formats, and of Iceberg, once, with PySpark's own Ivy."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pyspark

from millrace_broker.folders import cache_folder
from millrace_broker.java import find_java

KAFKA_CLIENTS = "3.9.2"
"""Version of the Kafka client that Spark's own connector for PySpark 4.2 is published with."""

_CONNECTOR_VERSION = "4.2.0"
"""The release of the connector, which runs in later releases of 4.2, too; some repositories lack theirs."""

AVRO, PROTOBUF = "spark-avro_2.13", "spark-protobuf_2.13"

# Spark has all else that the connector needs. Its token provider is seldom changed, and its 4.0.0 is in more
# repositories than the newer ones.
_CONNECTOR = {
    "spark-sql-kafka-0-10_2.13": ("org.apache.spark", _CONNECTOR_VERSION),
    "spark-token-provider-kafka-0-10_2.13": ("org.apache.spark", "4.0.0"),
    "kafka-clients": ("org.apache.kafka", KAFKA_CLIENTS),
    "commons-pool2": ("org.apache.commons", "2.13.1"),
}

_ICEBERG = {"iceberg-spark-runtime-4.1_2.13": ("org.apache.iceberg", "1.12.0")}

# Some repositories lack the newest one; that of Spark 4.1 runs in 4.2 too
_FORMATS = {AVRO: (version("pyspark"), "4.1.1"), PROTOBUF: (version("pyspark"),)}


def connector_jars() -> list[Path]:
    """Return the connector's jars, from the cache folder or Maven Central, or where ``MILLRACE_IVY_SETTINGS`` says.

    Raises:
        RuntimeError: They could not be fetched.
    """
    return _jars(_CONNECTOR)


def iceberg_jars() -> list[Path]:
    """Return the jar of Iceberg, as `connector_jars` does.

    Raises:
        RuntimeError: It could not be fetched.
    """
    return _jars(_ICEBERG)


@functools.cache
def format_jars() -> dict[str, Path]:
    """Return the jars of Spark's own formats that can be fetched, by the names of their artifacts."""
    jars = {}
    for name, revisions in _FORMATS.items():
        for revision in sorted(revisions, key=lambda revision: not _place(name, revision).is_file()):
            try:
                (jars[name],) = _jars({name: ("org.apache.spark", revision)})
                break
            except RuntimeError:
                print(f"  {name} {revision} could not be fetched", flush=True)
    return jars


def _jars(wanted: Mapping[str, tuple[str, str]]) -> list[Path]:
    jars = [_place(name, revision) for name, (_, revision) in wanted.items()]
    if not all(jar.is_file() for jar in jars):
        jars[0].parent.mkdir(parents=True, exist_ok=True)
        _fetch(wanted, jars[0].parent)
    return jars


def _place(name: str, revision: str) -> Path:
    return cache_folder() / "bench" / version("pyspark") / f"{name}-{revision}.jar"


def _fetch(wanted: Mapping[str, tuple[str, str]], folder: Path) -> None:
    ivy = next(Path(pyspark.__file__).parent.joinpath("jars").glob("ivy-*.jar"))
    settings = os.environ.get("MILLRACE_IVY_SETTINGS")
    with tempfile.TemporaryDirectory() as cache:
        module = Path(cache, "ivy.xml")
        module.write_text(_module(wanted))
        command = [str(find_java().path), "-jar", str(ivy), *(["-settings", settings] if settings else [])]
        command += ["-ivy", str(module), "-confs", "default", "-cache", cache]
        command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{', '.join(wanted)} could not be fetched:\n{done.stdout[-3000:]}{done.stderr}")


def _module(wanted: Mapping[str, tuple[str, str]]) -> str:
    dependencies = "".join(
        f'<dependency org="{organisation}" name="{name}" rev="{revision}" transitive="false" conf="default->master"/>'
        for name, (organisation, revision) in wanted.items()
    )
    return (
        '<ivy-module version="2.0"><info organisation="millrace" module="bench"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{dependencies}</dependencies></ivy-module>"
    )
