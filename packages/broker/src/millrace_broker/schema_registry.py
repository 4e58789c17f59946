"""A real schema registry on this machine, which has Confluent's API: Apicurio's, in memory."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.admin import wait_until
from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.installation import ivy_command
from millrace_broker.java import Java, find_java
from millrace_broker.listeners import free_ports
from millrace_broker.local_server import LocalServer
from millrace_broker.process import GuardedProcess
from millrace_broker.progress import Progress, StderrProgress

VERSION = "2.6.13.Final"
_ARCHIVE = "apicurio-registry-app"
_MODULE = (
    '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
    '<info organisation="millrace" module="schema-registry"/><configurations><conf name="default"/></configurations>'
    f'<dependencies><dependency org="io.apicurio" name="{_ARCHIVE}" rev="{VERSION}" transitive="false" '
    f'conf="default->master"><artifact name="{_ARCHIVE}" type="tar.gz" ext="tar.gz" m:classifier="all"/></dependency>'
    "</dependencies></ivy-module>"
)
_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_READY_SECONDS = 120.0
_REQUEST_SECONDS = 5.0


class ApicurioRegistry(LocalServer):
    """A schema registry on 127.0.0.1, which keeps all in memory, and ends with this process at the latest.

    Use it as a context manager, or call `start` and `stop`. Its port stays the same as long as the object exists.

    Args:
        progress: Told how far its download is; by default that goes to standard error.
    """

    def __init__(self, *, progress: Progress | None = None) -> None:
        self._progress = progress or StderrProgress()
        self._process: GuardedProcess | None = None
        (self._port,) = free_ports(1)

    @property
    def url(self) -> str:
        """The URL, for the option ``avro-confluent.url`` and others, and for clients of Confluent's registry."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    def start(self) -> None:
        """Start it and wait until it serves clients; does nothing when it runs already.

        Raises:
            MachineError: Java is missing or too old, the registry cannot be downloaded, or does not start.
        """
        if self._process is not None:
            return
        java = find_java()
        program = _ensure_installed(java, self._progress)
        folder = Path(tempfile.mkdtemp(prefix="millrace-registry-"))
        console = folder / "console.txt"
        options = (*_OPTIONS, f"-Djava.io.tmpdir={folder}", "-Dquarkus.http.host=127.0.0.1")
        self._process = GuardedProcess(folder)
        try:
            self._process.start(
                [str(java.path), *options, f"-Dquarkus.http.port={self._port}", "-jar", str(program)], console
            )
            self._await_ready(console)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop it, with all that it has."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _await_ready(self, console: Path) -> None:
        if not wait_until(lambda: self._has_ended() or self._answers(), _READY_SECONDS) or self._has_ended():
            tail = console.read_text(errors="replace")[-2000:]
            raise MachineError(f"the schema registry has not started; its output: {tail or '(empty)'}")

    def _has_ended(self) -> bool:
        return self._process is None or self._process.exit_code() is not None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/subjects", timeout=_REQUEST_SECONDS):  # noqa: S310 - our own
                return True
        except OSError:
            return False


def _ensure_installed(java: Java, progress: Progress) -> Path:
    """Return the program's jar, in the cache folder; downloads it where it is missing."""
    folder = cache_folder() / "registry" / VERSION
    with exclusive_lock(folder.parent / f"{VERSION}.lock"):
        if not folder.is_dir():
            progress(f"fetching Apicurio Registry {VERSION} (142 MB, once) into {folder}")
            _install(folder, java)
    return next(folder.glob("*-runner.jar"))


def _install(folder: Path, java: Java) -> None:
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as work:
        command: Sequence[str] = ivy_command(java, Path(work, ".ivy"), _MODULE)
        command = [*command, "-retrieve", f"{work}/[artifact].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        archive = Path(work, f"{_ARCHIVE}.tar.gz")
        if done.returncode != 0 or not archive.is_file():
            output = (done.stdout + done.stderr)[-2000:]
            raise MachineError(f"Apicurio Registry {VERSION} could not be fetched with PySpark's Ivy: {output}")
        with tarfile.open(archive) as content:
            content.extractall(f"{work}/new", filter="data")
        Path(work, "new").rename(folder)
