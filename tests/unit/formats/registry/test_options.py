"""Options of the formats whose schemas a registry has."""

from __future__ import annotations

from typing import Any

import pytest

from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace_formats.registry.options import RegistryOptions


def parsed(**given: str) -> Any:
    raw = {f"value.avro-confluent.{name.replace('_', '.')}": value for name, value in given.items()}
    parser = OptionParser("millrace", raw)
    options = parser.take(RegistryOptions, "value.avro-confluent.", "avro-confluent.")
    parser.finish()
    return options


def test_properties_are_taken_with_the_rest_of_their_names() -> None:
    options = parsed(url="http://a", properties_timeout="5", properties_schema_registry_ssl_key_password="x")
    assert options.properties == (("schema.registry.ssl.key.password", "x"), ("timeout", "5"))


def test_the_older_names_are_known() -> None:
    parser = OptionParser("millrace", {"avro-confluent.schema-registry.url": "http://a"})
    options = parser.take(RegistryOptions, "avro-confluent.")
    assert options is not None
    assert options.url == "http://a"


def test_no_secret_is_shown() -> None:
    options = RegistryOptions(
        url="http://ann:hush@a",
        basic_user_info="ann:hush",
        keystore_password="hush",
        truststore_password="hush",
        properties=(("ssl.key.password", "hush"),),
    )
    assert "hush" not in repr(options)
    assert "hush" not in repr(RegistryOptions(url="http://a", bearer_token="hush"))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "option 'avro-confluent.url' is required"),
        ({"url": "localhost:8081"}, "url must begin with http:// or https://"),
        ({"url": "http://a", "basic-auth_user-info": "ann"}, "basic-auth.user-info must be name:password"),
        ({"url": "http://a", "basic-auth_credentials-source": "USER_INFO"}, "but basic-auth.user-info is not given"),
        ({"url": "http://a", "bearer-auth_credentials-source": "STATIC_TOKEN"}, "but bearer-auth.token is not given"),
        ({"url": "http://a", "bearer-auth_token": "t", "basic-auth_user-info": "a:b"}, "exclude each other"),
        ({"url": "http://a", "properties_tmeout": "5"}, "properties.tmeout is not a property of the registry's client"),
        ({"url": "http://a", "nonsense": "5"}, "unknown option"),
    ],
)
def test_refused_options(given: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionsError) as caught:
        parsed(**given)
    assert problem in str(caught.value)
