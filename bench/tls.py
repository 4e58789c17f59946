"""A TLS key for the broker, and the properties by which clients trust it, made by Java's keytool."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from millrace_broker import Listener
from millrace_broker.java import find_java

_PASSWORD = "not-a-secret"


@dataclass(frozen=True)
class Tls:
    """A listener with TLS, and the client properties for it that both connectors take."""

    listener: Listener
    client: dict[str, str]


def make_tls(folder: Path) -> Tls:
    """Make a key for 127.0.0.1."""
    key, trust, certificate = folder / "key.p12", folder / "trust.p12", folder / "certificate.pem"
    subject = ("-dname", "CN=127.0.0.1", "-ext", "SAN=ip:127.0.0.1")
    _keytool(key, "-genkeypair", "-alias", "broker", "-keyalg", "RSA", *subject)
    _keytool(key, "-exportcert", "-alias", "broker", "-rfc", "-file", str(certificate))
    _keytool(trust, "-importcert", "-noprompt", "-alias", "broker", "-file", str(certificate))
    config = {"ssl.keystore.location": str(key), "ssl.keystore.password": _PASSWORD, "ssl.keystore.type": "PKCS12"}
    client = {
        "security.protocol": "SSL",
        "ssl.truststore.location": str(trust),
        "ssl.truststore.password": _PASSWORD,
        "ssl.truststore.type": "PKCS12",
    }
    return Tls(Listener("TLS", protocol="SSL", config=config), client)


def _keytool(store: Path, *arguments: str) -> None:
    keytool = find_java().path.with_name("keytool")
    command = [str(keytool), *arguments, "-keystore", str(store), "-storepass", _PASSWORD, "-storetype", "PKCS12"]
    subprocess.run(command, check=True, capture_output=True)
