from __future__ import annotations

import pickle

import pytest

from millrace.options.parser import show
from millrace.options.secrets import Properties, is_secret, split_login, without_secrets, without_values


@pytest.mark.parametrize(
    "name",
    [
        "properties.sasl.password",
        "properties.SASL.PASSWORD",
        "properties.sasl.jaas.config",
        "properties.sasl.username",
        "properties.ssl.key.password",
        "properties.ssl.key.pem",
        "properties.ssl.keystore.key",
        "properties.ssl.keystore.password",
        "properties.ssl.truststore.password",
        "properties.sasl.oauthbearer.client.secret",
        "properties.sasl.oauthbearer.client.credentials.client.secret",
        "properties.sasl.oauthbearer.config",
        "properties.sasl.oauthbearer.extensions",
        "properties.sasl.oauthbearer.assertion.private.key.pem",
        "properties.sasl.oauthbearer.assertion.private.key.passphrase",
        "avro-confluent.basic-auth.user-info",
        "avro-confluent.bearer-auth.token",
        "properties.schema.registry.basic.auth.user.info",
    ],
)
def test_what_may_hold_a_secret_is_one(name: str) -> None:
    assert is_secret(name)
    assert show(name, "hush") == "a value that is not shown"


@pytest.mark.parametrize(
    "name",
    [
        "topic",
        "format",
        "key.format",
        "scan.startup.mode",
        "properties.bootstrap.servers",
        "properties.security.protocol",
        "properties.sasl.mechanism",
        "properties.ssl.ca.location",
        "properties.ssl.keystore.location",
        "properties.ssl.keystore.type",
        "properties.ssl.truststore.certificates",
        "properties.sasl.kerberos.keytab",
        "properties.group.id",
        "json.map-null-key.mode",
    ],
)
def test_what_a_person_needs_to_see_is_none(name: str) -> None:
    assert not is_secret(name)
    assert show(name, "seen") == "'seen'"


PROPERTIES = Properties({"bootstrap.servers": "h:1", "sasl.password": "hush", "ssl.key.pem": "hush"})


@pytest.mark.parametrize("text", [repr(PROPERTIES), str(PROPERTIES), f"{PROPERTIES}", f"{[PROPERTIES]}"])
def test_the_text_of_properties_shows_no_secret(text: str) -> None:
    assert "hush" not in text
    assert "'sasl.password': '***'" in text
    assert "'bootstrap.servers': 'h:1'" in text


def test_properties_are_a_mapping_of_the_real_values() -> None:
    assert dict(PROPERTIES) == {"bootstrap.servers": "h:1", "sasl.password": "hush", "ssl.key.pem": "hush"}


def test_properties_are_equal_and_hash_alike_by_their_values() -> None:
    a, b = Properties({"x": "1", "y": "2"}), Properties({"y": "2", "x": "1"})
    assert a == b
    assert hash(a) == hash(b)
    assert a != Properties({"x": "1", "y": "3"})
    assert a != {"x": "1", "y": "2"}


def test_properties_survive_pickling() -> None:
    copy = pickle.loads(pickle.dumps(PROPERTIES))
    assert (copy, hash(copy)) == (PROPERTIES, hash(PROPERTIES))


def test_properties_do_not_change_with_what_they_were_made_from() -> None:
    source = {"x": "1"}
    properties = Properties(source)
    source["x"] = "2"
    assert properties["x"] == "1"


@pytest.mark.parametrize(
    ("url", "address", "login"),
    [
        ("https://KEY:12/SE+CRET==@host:8081/path", "https://host:8081/path", "KEY:12/SE+CRET=="),
        ("http://KEY:a#b?c@d@host", "http://host", "KEY:a#b?c@d"),
        ("http://name:p%40w@host", "http://host", "name:p@w"),
        (" http://host:8081/path?x=1 ", "http://host:8081/path?x=1", None),
        ("http://@host", "http://host", None),
        ("KEY:SECRET@host", "host", "KEY:SECRET"),
    ],
)
def test_a_login_ends_at_the_last_at_sign(url: str, address: str, login: str | None) -> None:
    assert split_login(url) == (address, login)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:hush@h1,http://user:p@ss@h2/path", "http://***@h1,http://***@h2/path"),
        ("https://KEY:12/hu+sh==@host:8081/path", "https://***@host:8081/path"),
        ("http://KEY:a#b?c@d@h1, http://user:hu/sh@h2", "http://***@h1, http://***@h2"),
        ('{"url": "http://u:hu/sh@h", "mail": "a@b"}', '{"url": "http://***@h", "mail": "a@b"}'),
        ("jdbc:x://h/shop?user=u&password=hush&ssl=true", "jdbc:x://h/shop?user=u&password=***&ssl=true"),
        ("jdbc:sqlserver://h;Password={hu;sh};user=u", "jdbc:sqlserver://h;Password=***;user=u"),
        ("jdbc:oracle:thin:scott/hush@h:1521/shop", "jdbc:oracle:thin:***@h:1521/shop"),
        ("url=jdbc:x?sslpassword=hush", "url=jdbc:x?sslpassword=***"),
        ('Module required user="u" password="hu\\"sh; hush";', 'Module required user="u" password=***;'),
        ('{"user": "u", "api_key": "hush"}', '{"user": "u", "api_key": ***}'),
        ("https://h/file?sig=hush", "https://h/file?sig=***"),
    ],
)
def test_secrets_in_urls_and_connection_strings_are_not_shown(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize("text", ["h:1,h:2", "https://h/a?b=c@d", "a.key, password", "password=", "x" * 100_000])
def test_other_texts_are_shown_as_they_are(text: str) -> None:
    assert without_secrets(text) == text


def test_a_secret_that_begins_another_leaves_nothing_of_it() -> None:
    assert without_values("wrong: hush, hush-hush-2", ["hush", "", "hush-hush-2"]) == "wrong: ***, ***"
