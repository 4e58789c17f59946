"""Fetches Apache Kafka's jars from Maven repositories with the Ivy that PySpark carries."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from millrace.errors import MachineError
from millrace_broker.java import Java
from millrace_broker.progress import Progress

SETTINGS_VARIABLE = "MILLRACE_IVY_SETTINGS"

# Kafka logs through SLF4J and leaves the choice of what is behind it to its distribution
_LOGGING = ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3")

# The lines of Ivy's report that say why it failed, the most telling kind first
_TELLING = (r"Server access|Exception|timed out", r"not found: |UNRESOLVED|FAILED", r"^https?://")


def fetch(version: str, folder: Path, java: Java, progress: Progress) -> None:
    """Fetch Kafka and all that it needs.

    Args:
        version: Kafka's version, such as ``"4.1.0"``.
        folder: An empty folder; the jars come into it, and Ivy's own cache into ``folder/.ivy``.
        java: Runs Ivy.
        progress: Told about each jar.

    Raises:
        MachineError: PySpark carries no Ivy, or a jar could not be fetched.
    """
    wanted = folder / ".ivy" / "ivy.xml"
    wanted.parent.mkdir(parents=True)
    wanted.write_text(_ivy_file((("org.apache.kafka", "kafka_2.13", version), _LOGGING)))
    command = [str(java.path), *_proxy_flags(), "-jar", str(_ivy_jar()), *_settings(), "-ivy", str(wanted)]
    command += ["-confs", "default", "-cache", str(folder / ".ivy" / "cache")]
    command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as ivy:
        said = _follow(ivy.stdout or (), version, progress)
    if ivy.returncode != 0 or not list(folder.glob("kafka_*.jar")):
        raise MachineError(_failure(version, said))


def _follow(lines: Iterable[str], version: str, progress: Progress) -> list[str]:
    said: list[str] = []
    found = fetched = 0
    for line in lines:
        said.append(line.strip())
        if line.startswith("\tfound "):
            found += 1
            progress(f"fetching Apache Kafka {version}: {found} jars found so far")
        elif "[SUCCESSFUL ]" in line:
            fetched += 1
            progress(f"fetching Apache Kafka {version}: {fetched} of {found} jars")
    return said


def _failure(version: str, said: list[str]) -> str:
    reasons = [line for mark in _TELLING for line in said if re.search(mark, line)]
    reasons = list(dict.fromkeys(reasons))[:6] or said[-6:]
    settings = os.environ.get(SETTINGS_VARIABLE)
    tried = f"the settings of {settings}" if settings else "Maven Central"
    shown = "".join(f"\n    {reason[:300]}" for reason in reasons)
    return (
        f"Apache Kafka {version} could not be fetched; tried with PySpark's Ivy and {tried}:{shown}\n"
        "What helps: a network connection (https_proxy is respected); "
        f"or {SETTINGS_VARIABLE}=FILE, an ivysettings.xml that names your own repository; "
        "or MILLRACE_CACHE=FOLDER, a copy of the cache folder of a machine where it worked"
    )


def _ivy_file(dependencies: Iterable[tuple[str, str, str]]) -> str:
    lines = "".join(
        f'<dependency org={quoteattr(org)} name={quoteattr(name)} rev={quoteattr(rev)} conf="default->default"/>'
        for org, name, rev in dependencies
    )
    return (
        '<ivy-module version="2.0"><info organisation="millrace" module="embedded-kafka"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{lines}</dependencies></ivy-module>'
    )


def _ivy_jar() -> Path:
    # Found without importing PySpark, which takes longer than all the rest
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar"), reverse=True):
            return jar
    raise MachineError(
        "no jars/ivy-*.jar in the installed pyspark; install the full distribution (pip install pyspark) to fetch Kafka"
    )


def _settings() -> list[str]:
    settings = os.environ.get(SETTINGS_VARIABLE)
    if not settings:
        return []
    if not Path(settings).is_file():
        raise MachineError(f"{SETTINGS_VARIABLE} is {settings}, but there is no such file")
    return ["-settings", settings]


def _proxy_flags() -> list[str]:
    # Java does not look at the variables that every other program takes a proxy from
    flags = ["-Dsun.net.client.defaultConnectTimeout=20000", "-Dsun.net.client.defaultReadTimeout=60000"]
    proxies = urllib.request.getproxies()
    for scheme in ("http", "https"):
        proxy = urllib.parse.urlsplit(proxies.get(scheme, ""))
        if proxy.hostname:
            flags += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    return flags
