"""A real schema registry, which speaks as Confluent's does: fetched once into the cache of the embedded broker."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyspark

from millrace_broker.folders import cache_folder, exclusive_lock
from millrace_broker.java import find_java
from millrace_broker.listeners import free_ports
from millrace_broker.process import GuardedProcess
from support.spark_programs import QUICK
from support.waiting import wait_until

VERSION = "2.6.13.Final"
_MODULE = (
    '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
    '<info organisation="millrace" module="tests"/><configurations><conf name="default"/></configurations>'
    '<dependencies><dependency org="io.apicurio" name="apicurio-registry-app" rev="{version}" transitive="false" '
    'conf="default->master"><artifact name="apicurio-registry-app" type="tar.gz" ext="tar.gz" m:classifier="all"/>'
    "</dependency></dependencies></ivy-module>"
)


class SchemaRegistry:
    """A registry that listens on the loopback address, keeps all in memory, and dies with this process."""

    def __init__(self) -> None:
        self._process: GuardedProcess | None = None
        (self._port,) = free_ports(1)

    @property
    def url(self) -> str:
        """The registry's URL."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    def __enter__(self) -> SchemaRegistry:
        folder = Path(tempfile.mkdtemp(prefix="millrace-registry-"))
        command = [
            *(str(find_java().path), "-Xmx256m", *QUICK.split(), f"-Djava.io.tmpdir={folder}"),
            *("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}"),
            *("-jar", str(_installed())),
        ]
        self._process = GuardedProcess(folder)
        self._process.start(command, folder / "console.txt")
        wait_until(self._answers, "the schema registry to answer")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process:
            self._process.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Send a request, and return the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        request = urllib.request.Request(f"{self.url}/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def register(self, subject: str, schema: object, **more: object) -> int:
        """Register a schema, and return its id."""
        return int(self.ask("POST", f"subjects/{subject}/versions", {"schema": json.dumps(schema), **more})["id"])

    def register_text(self, subject: str, text: str, kind: str, references: Sequence[tuple[str, str]] = ()) -> int:
        """Register a schema of a type, which refers to the first versions of others by name and subject."""
        referred = [{"name": name, "subject": other, "version": 1} for name, other in references]
        body = {"schema": text, "schemaType": kind, "references": referred}
        return int(self.ask("POST", f"subjects/{subject}/versions", body)["id"])

    def versions(self, subject: str) -> int:
        """Return the number of versions of a subject."""
        return len(self.ask("GET", f"subjects/{subject}/versions"))

    def keep_compatible(self, subject: str, level: str = "BACKWARD") -> None:
        """Let a subject accept compatible schemas only."""
        self.ask("PUT", f"config/{subject}", {"compatibility": level})

    def schemas(self, subject: str) -> list[Any]:
        """Return the schemas of a subject, oldest first."""
        versions = self.ask("GET", f"subjects/{subject}/versions")
        return [json.loads(self.ask("GET", f"subjects/{subject}/versions/{one}")["schema"]) for one in versions]

    def _answers(self) -> bool:
        if self._process and self._process.exit_code() is not None:
            raise AssertionError("the schema registry has ended at its start")
        try:
            return self.ask("GET", "subjects") == []
        except (urllib.error.URLError, OSError):
            return False


def _installed() -> Path:
    folder = cache_folder() / "registry" / VERSION
    with exclusive_lock(folder.parent / f"{VERSION}.lock"):
        if not folder.is_dir():
            _install(folder)
    (runner,) = folder.glob("*-runner.jar")
    return runner


def _install(folder: Path) -> None:
    ivy = next(Path(pyspark.__file__).parent.joinpath("jars").glob("ivy-*.jar"))
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        module = Path(work, "ivy.xml")
        module.write_text(_MODULE.format(version=VERSION))
        command = [str(find_java().path), "-jar", str(ivy), "-ivy", str(module), "-confs", "default"]
        settings = os.environ.get("MILLRACE_IVY_SETTINGS")
        command += [*(["-settings", settings] if settings else []), "-cache", f"{work}/cache"]
        command += ["-retrieve", f"{work}/[artifact].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"the schema registry could not be fetched:\n{done.stdout[-3000:]}{done.stderr}"
        with tarfile.open(f"{work}/apicurio-registry-app.tar.gz") as archive:
            archive.extractall(f"{work}/new", filter="data")
        Path(work, "new").rename(folder)
