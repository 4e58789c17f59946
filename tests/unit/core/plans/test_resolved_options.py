"""The origin of each value of a configuration, and secrets that are never shown."""

from __future__ import annotations

from millrace.configuration.build import configure_sink, configure_source
from millrace.plans.resolved_options import resolved_options

GIVEN = {
    "kafka.bootstrap.servers": "h:1",
    "subscribe": "orders",
    "format": "json",
    "json.ignore-parse-errors": "true",
    "properties.group.id": "readers",
    "properties.ssl.truststore.password": "very-secret",
}


def by_name(origins=None, **more):
    raw = {**GIVEN, **more}
    found = resolved_options(configure_source(raw), raw, origins or {})
    return {each.name: each for each in found}


def test_each_value_has_its_origin():
    found = by_name()
    shown = {name: (found[name].value, found[name].origin, found[name].detail) for name in found}
    assert shown["topic"] == ("orders", "option", "as subscribe")
    assert shown["value.format"] == ("json", "option", "as format")
    assert shown["scan.fail-on-data-loss"] == ("true", "default", "")
    assert shown["scan.startup.mode"] == ("group-offsets", "derived", "from properties.group.id")
    assert shown["json.ignore-parse-errors"][:2] == ("true", "option")
    assert shown["properties.bootstrap.servers"] == ("h:1", "option", "as kafka.bootstrap.servers")


def test_the_default_start_is_that_of_the_kind_of_read():
    raw = {"properties.bootstrap.servers": "h:1", "topic": "a"}
    config = configure_source(raw)
    modes = [
        next(each.value for each in resolved_options(config, raw, {}, is_stream=streams) if "startup.mode" in each.name)
        for streams in (False, True)
    ]
    assert modes == ["earliest-offset", "latest-offset"]


def test_a_file_is_an_origin_and_a_secret_is_not_shown():
    found = by_name({"properties.ssl.truststore.password": "file client.properties"})
    secret = found["properties.ssl.truststore.password"]
    assert (secret.value, secret.origin) == ("***", "file client.properties")
    assert "very-secret" not in repr(found)


def test_a_password_in_an_address_is_not_shown():
    more = {
        "properties.sasl.oauthbearer.token.endpoint.url": "https://u:pw@h/token",
        "properties.client.id": "x://u:pw@h",
    }
    assert "pw" not in repr(by_name(**more))


def test_a_write_has_its_options():
    raw = {
        "properties.bootstrap.servers": "h:1",
        "topic": "a",
        "sink.metrics.secret": "ab" * 32,
        "sink.metrics.address": "h:1",
    }
    found = {each.name: each for each in resolved_options(configure_sink(raw), raw, {})}
    assert found["sink.delivery-guarantee"].origin == "default"
    assert found["sink.metrics.secret"].value == "***"
