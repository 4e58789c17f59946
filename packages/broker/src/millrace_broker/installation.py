"""Keep a verified copy of Apache Kafka in the user's cache folder.

The jars come from Maven repositories, fetched by the Ivy that PySpark includes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from millrace.errors import MachineError, OptionsError
from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.java import Java
from millrace_broker.node import BOOTSTRAP_RECORD, needs_zookeeper, new_id
from millrace_broker.progress import Progress

DEFAULT_VERSION = "4.1.0"
MANIFEST = "manifest.json"
IVY_SETTINGS_VARIABLE = "MILLRACE_IVY_SETTINGS"

# Kafka logs through SLF4J and leaves the choice of the backend to its distribution
_LOGGING_DEPENDENCIES = (("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),)
# Kafka up to 3.9 calls Log4j 1 besides
_LOG4J_1_DEPENDENCY = ("org.apache.logging.log4j", "log4j-1.2-api", "2.24.3")

# Patterns of the lines in Ivy's report that explain a failure, the most specific first
_FAILURE_PATTERNS = (r"Server access|Exception|timed out", r"not found: |UNRESOLVED|FAILED", r"^https?://")

_TEMPLATE_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
controller.listener.names=CONTROLLER
log.dirs={data}
"""

Download = Callable[[str, Path, Java, Progress], None]


@dataclass(frozen=True)
class KafkaInstallation:
    """Apache Kafka on this machine.

    Args:
        version: Kafka's version.
        folder: Holds the jars, the bootstrap record of new data folders, and the manifest of their checksums.
    """

    version: str
    folder: Path

    @property
    def class_path(self) -> str:
        """Java's class path."""
        return ":".join(str(jar) for jar in sorted(self.folder.glob("*.jar")))

    @property
    def bootstrap_record(self) -> Path:
        """The file that a newly formatted data folder starts from."""
        return self.folder / BOOTSTRAP_RECORD


def download(version: str, folder: Path, java: Java, progress: Progress) -> None:
    """Fetch Kafka's jars, and create the bootstrap record of its data folders.

    Args:
        version: Kafka's version, such as ``"4.1.0"``.
        folder: An empty folder for the files.
        java: Runs Ivy and Kafka's tool.
        progress: Called for each jar.

    Raises:
        MachineError: PySpark includes no Ivy, a jar could not be fetched, or Kafka's tool failed.
    """
    fetch_jars(version, folder, java, progress)
    shutil.rmtree(folder / ".ivy")
    if not needs_zookeeper(version):
        _create_bootstrap_record(java, KafkaInstallation(version, folder))


def ensure_installed(version: str, java: Java, progress: Progress, download: Download = download) -> KafkaInstallation:
    """Verify the cached Kafka by its checksums; download it where it is missing or damaged.

    Args:
        version: Kafka's version: 2.8, or 3.3 and newer.
        java: Runs what the download needs.
        progress: Told how far the download is; not called when the cached Kafka is intact.
        download: Fills an empty folder.

    Raises:
        MachineError: Kafka could not be downloaded.
        OptionsError: The version is not supported.
    """
    if not re.fullmatch(r"(2\.8|3\.[3-9]|[4-9]\.\d+)\.\d+", version):
        expected = f"expected a release of Kafka 2.8, 3.3 or newer, such as {DEFAULT_VERSION!r}; got {version!r}"
        raise OptionsError("broker", (f"version: {expected}",))
    installation = KafkaInstallation(version, cache_folder() / "kafka" / version)
    if not damages(installation.folder):
        return installation
    with exclusive_lock(installation.folder.parent / f"{version}.lock"):
        # Another process may have installed it in the meantime
        damage = next(iter(damages(installation.folder)), None)
        if damage:
            if installation.folder.exists():
                progress(f"the cached Apache Kafka {version} is damaged ({damage}), fetching it again")
            _install(installation, java, progress, download)
    return installation


def damages(folder: Path) -> list[str]:
    """Compare a cached Kafka with its manifest; returns one phrase for each missing or changed file."""
    try:
        expected = json.loads((folder / MANIFEST).read_text())["sha256"]
    except FileNotFoundError:
        return ["its manifest is missing"]
    except (ValueError, KeyError, TypeError):
        return ["its manifest is unreadable"]
    return [damage for name, digest in expected.items() if (damage := _damage(folder / name, digest))]


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal.

    Raises:
        OSError: The file is missing or cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_jars(version: str, folder: Path, java: Java, progress: Progress) -> None:
    """Fetch the jars of Kafka and of all its dependencies.

    Args:
        version: Kafka's version, such as ``"4.1.0"``.
        folder: An empty folder; the jars go into it, and Ivy's own cache into ``folder/.ivy``.
        java: Runs Ivy.
        progress: Called for each jar.

    Raises:
        MachineError: PySpark includes no Ivy, or a jar could not be fetched.
    """
    module = _ivy_module((("org.apache.kafka", "kafka_2.13", version), *_logging_dependencies(version)))
    command = ivy_command(java, folder / ".ivy", module)
    command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as ivy:
        output = report_progress(ivy.stdout or (), version, progress)
    if ivy.returncode != 0 or not list(folder.glob("kafka_*.jar")):
        raise MachineError(_failure_message(version, output))


def ivy_command(java: Java, folder: Path, module: str) -> list[str]:
    """Return the command of Ivy, to which ``-retrieve`` is to be added.

    Args:
        java: Runs Ivy.
        folder: A folder for Ivy's own files, which is created.
        module: The text of an ``ivy.xml`` that names what to fetch.

    Raises:
        MachineError: PySpark includes no Ivy, or there is no file of the settings that the environment names.
    """
    folder.mkdir(parents=True)
    ivy_file = folder / "ivy.xml"
    ivy_file.write_text(module)
    command = [str(java.path), *proxy_options(), "-jar", str(_ivy_jar()), *_ivy_settings(), "-ivy", str(ivy_file)]
    return [*command, "-confs", "default", "-cache", str(folder / "cache")]


def report_progress(lines: Iterable[str], version: str, progress: Progress) -> list[str]:
    """Report from Ivy's output how many jars are found and fetched; returns the output's lines."""
    output: list[str] = []
    resolved = fetched = 0
    for line in lines:
        output.append(line.strip())
        if line.startswith("\tfound "):
            resolved += 1
            progress(f"fetching Apache Kafka {version}: {resolved} jars found so far")
        elif "[SUCCESSFUL ]" in line:
            fetched += 1
            progress(f"fetching Apache Kafka {version}: {fetched} of {resolved} jars")
    return output


def proxy_options() -> list[str]:
    """Return JVM options for the proxy of the usual environment variables, which Java ignores, and for timeouts."""
    options = ["-Dsun.net.client.defaultConnectTimeout=20000", "-Dsun.net.client.defaultReadTimeout=60000"]
    proxies = urllib.request.getproxies()
    for scheme in ("http", "https"):
        proxy = urllib.parse.urlsplit(proxies.get(scheme, ""))
        if proxy.hostname:
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    return options


def _install(installation: KafkaInstallation, java: Java, progress: Progress, download: Download) -> None:
    progress(f"fetching Apache Kafka {installation.version} (43 MB, once) into {installation.folder}")
    prefix = f".{installation.version}-"
    # Leftovers of killed downloads: the lock says that none is running now
    for leftover in installation.folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=prefix, dir=installation.folder.parent))
    try:
        download(installation.version, partial, java, progress)
        checksums = {path.name: sha256(path) for path in sorted(partial.iterdir())}
        (partial / MANIFEST).write_text(json.dumps({"kafka": installation.version, "sha256": checksums}, indent=1))
        partial.chmod(0o755)
        shutil.rmtree(installation.folder, ignore_errors=True)
        partial.rename(installation.folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    progress(f"Apache Kafka {installation.version} is installed")


def _damage(path: Path, digest: str) -> str | None:
    try:
        return None if sha256(path) == digest else f"{path.name} has changed"
    except OSError:
        return f"{path.name} is missing"


def _create_bootstrap_record(java: Java, installation: KafkaInstallation) -> None:
    """Let Kafka's tool format a folder, and keep the record of the features that a new cluster starts with."""
    with tempfile.TemporaryDirectory(prefix="millrace-format-") as folder:
        properties = Path(folder, "server.properties")
        data = Path(folder, "data")
        properties.write_text(_TEMPLATE_PROPERTIES.format(data=data))
        command = [str(java.path), "-XX:TieredStopAtLevel=1", "-cp", installation.class_path, "kafka.tools.StorageTool"]
        command += ["format", "-t", new_id(), "-c", str(properties)]
        completed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if completed.returncode != 0 or not (data / BOOTSTRAP_RECORD).is_file():
            output = (completed.stdout + completed.stderr).strip()[-500:]
            raise MachineError(f"Kafka's storage tool could not format a new folder; its output: {output or '(empty)'}")
        shutil.copyfile(data / BOOTSTRAP_RECORD, installation.bootstrap_record)


def _failure_message(version: str, output: list[str]) -> str:
    reasons = [line for pattern in _FAILURE_PATTERNS for line in output if re.search(pattern, line)]
    reasons = list(dict.fromkeys(reasons))[:6] or output[-6:]
    settings = os.environ.get(IVY_SETTINGS_VARIABLE)
    tried = f"the settings of {settings}" if settings else "Maven Central"
    details = "".join(f"\n    {reason[:300]}" for reason in reasons)
    return (
        f"Apache Kafka {version} could not be fetched; tried with PySpark's Ivy and {tried}:{details}\n"
        "Any of these helps: a network connection (https_proxy is respected); "
        f"{IVY_SETTINGS_VARIABLE}=FILE, an ivysettings.xml that names your own repository; "
        "MILLRACE_CACHE=FOLDER, a copy of the cache folder of a machine where it worked"
    )


def _logging_dependencies(version: str) -> Iterator[tuple[str, str, str]]:
    yield from _LOGGING_DEPENDENCIES
    if version.startswith(("2.", "3.")):
        yield _LOG4J_1_DEPENDENCY


def _ivy_module(dependencies: Iterable[tuple[str, str, str]]) -> str:
    lines = "".join(
        f'<dependency org={quoteattr(org)} name={quoteattr(name)} rev={quoteattr(rev)} conf="default->default"/>'
        for org, name, rev in dependencies
    )
    return (
        '<ivy-module version="2.0"><info organisation="millrace" module="embedded-kafka"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{lines}</dependencies></ivy-module>'
    )


def _ivy_jar() -> Path:
    # Located without importing PySpark, which takes longer than all the rest
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar"), reverse=True):
            return jar
    raise MachineError(
        "no jars/ivy-*.jar in the installed pyspark; install the full distribution (pip install pyspark) to fetch Kafka"
    )


def _ivy_settings() -> list[str]:
    settings = os.environ.get(IVY_SETTINGS_VARIABLE)
    if not settings:
        return []
    if not Path(settings).is_file():
        raise MachineError(f"{IVY_SETTINGS_VARIABLE} is {settings}, but there is no such file")
    return ["-settings", settings]
