"""Fetches the jars of Spark's own Kafka connector, once, with the Ivy that PySpark carries."""

from __future__ import annotations

import os
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import pyspark

from millrace.embedded.folders import cache_folder
from millrace.embedded.java import find_java

KAFKA_CLIENTS = "3.9.2"
"""The Kafka client that Spark's own connector of PySpark 4.2 is published with."""

# Spark has all else that the connector needs. Its token provider is seldom changed, and its 4.0.0 is in more
# repositories than the newer ones.
_JARS = {
    "spark-sql-kafka-0-10_2.13": ("org.apache.spark", version("pyspark")),
    "spark-token-provider-kafka-0-10_2.13": ("org.apache.spark", "4.0.0"),
    "kafka-clients": ("org.apache.kafka", KAFKA_CLIENTS),
    "commons-pool2": ("org.apache.commons", "2.13.1"),
}


def connector_jars() -> list[Path]:
    """The jars, from the cache folder or from Maven Central (or from where ``MILLRACE_IVY_SETTINGS`` says).

    Raises:
        RuntimeError: They could not be fetched.
    """
    folder = cache_folder() / "bench" / version("pyspark")
    jars = [folder / f"{name}-{revision}.jar" for name, (_, revision) in _JARS.items()]
    if not all(jar.is_file() for jar in jars):
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(folder)
    return jars


def _fetch(folder: Path) -> None:
    ivy = next(Path(pyspark.__file__).parent.joinpath("jars").glob("ivy-*.jar"))
    settings = os.environ.get("MILLRACE_IVY_SETTINGS")
    with tempfile.TemporaryDirectory() as cache:
        module = Path(cache, "ivy.xml")
        module.write_text(_module())
        command = [str(find_java().path), "-jar", str(ivy), *(["-settings", settings] if settings else [])]
        command += ["-ivy", str(module), "-confs", "default", "-cache", cache]
        command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Spark's own Kafka connector could not be fetched:\n{done.stdout[-3000:]}{done.stderr}")


def _module() -> str:
    dependencies = "".join(
        f'<dependency org="{organisation}" name="{name}" rev="{revision}" transitive="false" conf="default->master"/>'
        for name, (organisation, revision) in _JARS.items()
    )
    return (
        '<ivy-module version="2.0"><info organisation="millrace" module="bench"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{dependencies}</dependencies></ivy-module>"
    )
