"""A Kerberos realm of its own on loopback: MIT's KDC, which touches nothing of the machine's Kerberos settings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from millrace_broker.listeners import free_ports, is_free
from support.names import unique_name
from support.waiting import PATIENCE_S, wait_until

REALM = "MILLRACE.TEST"

_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "klist")
# Debian's folder of programs for administrators is not on everyone's path
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])

# Java knows no other name of a host than the one it connects to, so names are not looked up; UDP has no refused port
_KRB5_CONF = """[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {realm} = {{
    kdc = 127.0.0.1:{port}
  }}
[domain_realm]
  localhost = {realm}
"""

_KDC_CONF = """[kdcdefaults]
  kdc_listen = 127.0.0.1:{port}
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {realm} = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    acl_file = {folder}/kadm5.acl
    max_life = 1h
    max_renewable_life = 1d
  }}
[logging]
  kdc = FILE:{folder}/kdc.log
"""


@dataclass(frozen=True)
class Kdc:
    """A running KDC.

    Attributes:
        folder: Holds its database, settings, keytabs and tickets.
        environment: Variables by which Kerberos programs and libraries use this realm, and a ticket cache of its own.
    """

    folder: Path
    environment: Mapping[str, str] = field(repr=False)

    @property
    def krb5_conf(self) -> Path:
        """The settings for clients."""
        return self.folder / "krb5.conf"

    def add(self, principal: str, life: str = "1 hour") -> Path:
        """Add a principal with a random key, and return its keytab.

        Args:
            principal: Its name, without the realm.
            life: The longest life of its tickets, as kadmin reads it.
        """
        keytab = self.folder / f"{principal.replace('/', '-')}.keytab"
        self._admin(f'addprinc -randkey -maxlife "{life}" {principal}')
        self._admin(f"ktadd -k {keytab} {principal}")
        return keytab

    def run(self, *command: str) -> str:
        """Run one of Kerberos's programs, and return what it prints."""
        done = subprocess.run(
            [_program(command[0]), *command[1:]],
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout

    def tickets(self, principal: str, service: str) -> list[datetime]:
        """Return when the KDC gave a principal each of its tickets for a service, oldest first."""
        log = (self.folder / "kdc.log").read_text()
        issued = re.findall(rf"(?m)^(.{{15}}) .* ISSUE: .* {principal}@{REALM} for {service}@", log)
        # Without a year in the log, that of a leap year can be parsed for all days
        return [datetime.strptime(f"2024 {time}", "%Y %b %d %H:%M:%S") for time in issued]

    def _admin(self, query: str) -> None:
        self.run("kadmin.local", "-r", REALM, "-q", query)


def missing_programs() -> list[str]:
    """Return the programs of MIT Kerberos that are not installed."""
    return [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]


@contextmanager
def kdc(folder: Path) -> Iterator[Kdc]:
    """Run a KDC with a new realm.

    Args:
        folder: For its database, settings, keytabs and tickets; empty.
    """
    (port,) = free_ports(1)
    names = {"realm": REALM, "port": port, "folder": folder}
    (folder / "krb5.conf").write_text(_KRB5_CONF.format(**names))
    (folder / "kdc.conf").write_text(_KDC_CONF.format(**names))
    environment = {
        **os.environ,
        "KRB5_CONFIG": str(folder / "krb5.conf"),
        "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
        "KRB5CCNAME": f"FILE:{folder}/tickets",
        "LC_ALL": "C",
        "TZ": "UTC",
    }
    running = Kdc(folder, environment)
    running.run("kdb5_util", "create", "-s", "-r", REALM, "-P", unique_name("master-key"))
    with (folder / "console.log").open("wb") as console:
        process = subprocess.Popen([_program("krb5kdc"), "-n"], env=environment, stdout=console, stderr=console)
    try:
        wait_until(lambda: process.poll() is not None or not is_free(port), "the KDC to listen")
        assert process.poll() is None, (folder / "console.log").read_text()
        yield running
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _program(name: str) -> str:
    path = shutil.which(name, path=_PATH)
    assert path is not None, f"{name} is not installed"
    return path
