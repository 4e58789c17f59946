"""Authorities, certificates and stores of real keys, for brokers and clients of tests."""

from __future__ import annotations

import datetime
import ipaddress
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from millrace_broker.java import find_java


@dataclass(frozen=True)
class Identity:
    """A key and its certificate, with the certificates between it and its root."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    between: tuple[x509.Certificate, ...] = ()

    @property
    def certificate_pem(self) -> str:
        """The certificate alone, as PEM."""
        return _pem(self.certificate)

    @property
    def chain_pem(self) -> str:
        """The certificate and its intermediates as PEM, its own first."""
        return "".join(map(_pem, (self.certificate, *self.between)))

    def key_pem(self, password: str | None = None) -> str:
        """Return the key as PKCS#8 in PEM, encrypted when there is a password."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password)).decode()

    def pkcs12(self, password: str) -> bytes:
        """Return key and certificates as a PKCS#12 store with one entry named ``client``."""
        return pkcs12.serialize_key_and_certificates(
            b"client", self.key, self.certificate, self.between, _encryption(password)
        )


def authority(name: str, signer: Identity | None = None) -> Identity:
    """Create an authority; a root of its own without a ``signer``."""
    return _issue(name, signer, (), is_authority=True)


def issue(name: str, signer: Identity, hosts: Sequence[str] = (), *, is_expired: bool = False) -> Identity:
    """Issue a certificate for a server or client with these names and addresses."""
    return _issue(name, signer, hosts, is_authority=False, is_expired=is_expired)


def keytool(*arguments: str | Path) -> None:
    """Run the keytool of the Java that brokers run on."""
    program = find_java().path.resolve().with_name("keytool")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)


def java_truststore(path: Path, certificate: Path, password: str, kind: str) -> None:
    """Let keytool make a store that trusts a PEM certificate."""
    keytool(
        *("-importcert", "-noprompt", "-alias", "root", "-file", certificate),
        *("-keystore", path, "-storetype", kind, "-storepass", password),
    )


def java_keystore(path: Path, pkcs12_store: Path, old: str, password: str, key_password: str, kind: str) -> None:
    """Let keytool make a store from the entry ``client`` of a PKCS#12 one."""
    keytool(
        *("-importkeystore", "-srckeystore", pkcs12_store, "-srcstorepass", old, "-srcalias", "client"),
        *("-destkeystore", path, "-deststoretype", kind, "-deststorepass", password, "-destkeypass", key_password),
    )


def _issue(
    name: str, signer: Identity | None, hosts: Sequence[str], *, is_authority: bool, is_expired: bool = False
) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    signing_key = signer.key if signer else key
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=30 if is_expired else 0)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer.certificate.subject if signer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        # Python 3.13 takes no certificate without them
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
    )
    if is_authority:
        builder = builder.add_extension(_signs_certificates(), critical=True)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    certificate = builder.sign(signing_key, hashes.SHA256())
    between = () if signer is None or _is_root(signer) else (signer.certificate, *signer.between)
    return Identity(key, certificate, between)


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _is_root(identity: Identity) -> bool:
    return identity.certificate.issuer == identity.certificate.subject


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _encryption(password: str | None) -> KeySerializationEncryption:
    return BestAvailableEncryption(password.encode()) if password else NoEncryption()
