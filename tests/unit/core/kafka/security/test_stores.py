"""Stores that Java's own keytool has made."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, pkcs12

from millrace.kafka.security.pkcs12_digest import digest_of, has_password
from millrace.kafka.security.stores import KeyPasswordError, StoreError, StorePasswordError, read_store
from support.certificates import Identity, authority, issue, java_keystore, java_truststore

OLD, STORE, KEY = "old-pass", "store-pass", "key-pass"
ROOT = authority("root")
CLIENT = issue("client", authority("between", ROOT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stores")
    (made / "ca.pem").write_text(ROOT.certificate_pem)
    (made / "client.p12").write_bytes(CLIENT.pkcs12(OLD))
    java_truststore(made / "trust.jks", made / "ca.pem", STORE, "JKS")
    java_truststore(made / "trust-pkcs12.jks", made / "ca.pem", STORE, "PKCS12")
    java_keystore(made / "key.jks", made / "client.p12", OLD, STORE, KEY, "JKS")
    java_keystore(made / "key-pkcs12.jks", made / "client.p12", OLD, STORE, STORE, "PKCS12")
    java_keystore(made / "key.jceks", made / "client.p12", OLD, STORE, KEY, "JCEKS")
    (made / "client.pem").write_text("Bag attributes\n" + CLIENT.chain_pem + CLIENT.key_pem())
    return made


@pytest.mark.parametrize(
    ("name", "password"), [("trust.jks", STORE), ("trust.jks", None), ("trust-pkcs12.jks", STORE), ("ca.pem", None)]
)
def test_the_certificates_to_trust_are_read(folder: Path, name: str, password: str | None) -> None:
    store = read_store((folder / name).read_bytes(), password)
    assert store.trusted == ROOT.certificate_pem
    assert store.key == ""


@pytest.mark.parametrize(
    ("name", "password", "key_password"),
    [
        ("key.jks", STORE, KEY),
        ("key-pkcs12.jks", STORE, None),
        ("client.p12", OLD, None),
        ("client.pem", None, None),
    ],
)
def test_a_key_and_its_whole_chain_are_read(
    folder: Path, name: str, password: str | None, key_password: str | None
) -> None:
    store = read_store((folder / name).read_bytes(), password, key_password)
    assert store.key == CLIENT.key_pem()
    assert store.chain == CLIENT.chain_pem


@pytest.mark.parametrize("password", ["wrong-hush", ""])
@pytest.mark.parametrize("name", ["trust.jks", "trust-pkcs12.jks", "key.jks", "key-pkcs12.jks"])
def test_a_wrong_password_of_a_store_is_told(folder: Path, name: str, password: str) -> None:
    with pytest.raises(StorePasswordError, match=r"^the password is wrong, or the file is damaged$"):
        read_store((folder / name).read_bytes(), password, KEY)


def test_a_certificate_that_the_library_rejects_is_no_wrong_password() -> None:
    store = without_digest(pkcs12.serialize_key_and_certificates(None, None, None, [ROOT.certificate], NoEncryption()))
    assert read_store(store).trusted == ROOT.certificate_pem
    with pytest.raises(StoreError) as error:
        read_store(store.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x09"))
    assert not isinstance(error.value, StorePasswordError)
    assert str(error.value) == (
        "it holds a certificate or key that the library 'cryptography' rejects (9 is not a valid X509 version). Issue "
        "it again, or give the store as PEM: openssl pkcs12 -in STORE -nodes -out STORE.pem"
    )


def test_a_damaged_certificate_in_a_store_is_no_wrong_password() -> None:
    certificate = ROOT.certificate.public_bytes(Encoding.DER)
    whole = pkcs12.serialize_key_and_certificates(None, None, None, [ROOT.certificate], NoEncryption())
    damaged = whole.replace(certificate[:8], certificate[:4] + b"\x31" + certificate[5:8])
    assert damaged != whole
    written, computed = digest_of(damaged, "")
    with pytest.raises(StorePasswordError):
        read_store(damaged)
    with pytest.raises(StoreError, match=r"^it holds a certificate .* 'cryptography' rejects\. Issue"):
        read_store(damaged.replace(written, computed))


def test_without_a_digest_a_damaged_certificate_cannot_be_told_from_a_wrong_password() -> None:
    certificate = ROOT.certificate.public_bytes(Encoding.DER)
    store = without_digest(pkcs12.serialize_key_and_certificates(None, None, None, [ROOT.certificate], NoEncryption()))
    damaged = store.replace(certificate[:8], certificate[:4] + b"\x31" + certificate[5:8])
    assert damaged != store
    with pytest.raises(StorePasswordError, match="wrong, or the file is damaged, or it holds a certificate"):
        read_store(damaged)


def test_the_password_of_a_store_is_known_by_its_digest(folder: Path) -> None:
    for name, password in (("trust-pkcs12.jks", STORE), ("key-pkcs12.jks", STORE), ("client.p12", OLD)):
        store = (folder / name).read_bytes()
        assert has_password(store, password)
        assert not has_password(store, "wrong-hush")
        assert not has_password(store[:-40], password)


def without_digest(store: bytes) -> bytes:
    """Return a store without its last element, a digest, so that it can be changed."""
    start, _ = der_contents(store, 0)
    _, end_of_version = der_contents(store, start)
    _, end = der_contents(store, end_of_version)
    return b"\x30\x82" + (end - start).to_bytes(2, "big") + store[start:end]


def der_contents(der: bytes, position: int) -> tuple[int, int]:
    """Return where the contents of the DER value at a position begin and end."""
    length, begin = der[position + 1], position + 2
    if length >= 0x80:
        begin += length & 0x7F
        length = int.from_bytes(der[position + 2 : begin], "big")
    return begin, begin + length


@pytest.mark.parametrize("name", ["trust-pkcs12.jks", "key.jks", "client.p12"])
def test_a_password_that_is_needed_is_asked_for(folder: Path, name: str) -> None:
    with pytest.raises(StorePasswordError):
        read_store((folder / name).read_bytes())


@pytest.mark.parametrize("key_password", [None, "wrong-hush"])
def test_a_wrong_password_of_a_key_is_told(folder: Path, key_password: str | None) -> None:
    with pytest.raises(KeyPasswordError, match=r"^the password of its key is wrong$"):
        read_store((folder / "key.jks").read_bytes(), STORE, key_password)


def test_another_kind_of_store_is_told_with_how_to_convert_it(folder: Path) -> None:
    with pytest.raises(StoreError, match="keytool -importkeystore -deststoretype PKCS12"):
        read_store((folder / "key.jceks").read_bytes(), STORE)


@pytest.mark.parametrize("data", [b"", b"junk", b"\x30\x82", b"\xfe\xed\xfe\xed\x00\x00\x00\x02"])
@pytest.mark.parametrize("password", [None, "hush"])
def test_what_is_no_store_is_told(data: bytes, password: str | None) -> None:
    with pytest.raises(StoreError) as error:
        read_store(data, password)
    assert "hush" not in str(error.value)


def test_a_store_that_was_cut_off_or_changed_is_told(folder: Path) -> None:
    whole = (folder / "key.jks").read_bytes()
    for length in range(4, len(whole) - 20, 7):
        with pytest.raises(StoreError):
            read_store(whole[:length], STORE, KEY)
        with pytest.raises(StoreError):
            read_store(whole[:length], None, KEY)
    with pytest.raises(StorePasswordError):
        read_store(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], STORE, KEY)


@pytest.mark.parametrize("ends", ["\n", "\\n", " ", "\r\n"])
def test_pem_may_have_any_ends_of_lines(ends: str) -> None:
    text = (CLIENT.key_pem() + CLIENT.chain_pem).replace("\n", ends)
    store = read_store(text.encode())
    assert (store.key, store.chain) == (CLIENT.key_pem(), CLIENT.chain_pem)


def test_an_encrypted_key_in_pem_stays_encrypted() -> None:
    text = CLIENT.key_pem(KEY) + CLIENT.chain_pem
    assert read_store(text.encode()).key.startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")


def test_the_text_of_a_store_shows_no_key() -> None:
    assert "PRIVATE" not in repr(read_store((CLIENT.key_pem() + CLIENT.chain_pem).encode()))


def test_an_old_key_with_headers_is_kept_as_it_is() -> None:
    inside = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA"
    old = f"-----BEGIN RSA PRIVATE KEY-----\n{inside}\n-----END RSA PRIVATE KEY-----\n"
    assert read_store(old.encode()).key == old


def test_a_store_without_a_key_has_none() -> None:
    only: Identity = issue("only", ROOT)
    assert read_store(only.certificate_pem.encode()).key == ""
