"""The options of the avro formats, what is missing without their libraries, and what they import."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace_formats.avro import AvroOptions
from millrace_formats.avro.registry.options import RegistryOptions

MISSING = """
import sys
sys.modules[{missing!r}] = None
import pyarrow as pa
from {module} import {name}
from millrace_formats.avro.registry.options import RegistryOptions
try:
    {name}({options}).decoder(pa.schema([("a", pa.int32())]))
except Exception as error:
    print(type(error).__name__, error)
"""


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_names_and_defaults_are_those_of_the_reference() -> None:
    options = RegistryOptions(url="http://localhost:8081")
    found = {info.name: getattr(options, field) for field, info in options_of(RegistryOptions).items()}
    assert found == {
        "url": "http://localhost:8081",
        "subject": None,
        "schema": None,
        "auto.register.schemas": True,
        "timestamp_mapping.legacy": True,
        "ssl.keystore.location": None,
        "ssl.keystore.password": None,
        "ssl.truststore.location": None,
        "ssl.truststore.password": None,
        "basic-auth.credentials-source": None,
        "basic-auth.user-info": None,
        "bearer-auth.credentials-source": None,
        "bearer-auth.token": None,
        "properties.*": (),
    }
    assert {info.name: getattr(AvroOptions(), field) for field, info in options_of(AvroOptions).items()} == {
        "encoding": "binary",
        "timestamp_mapping.legacy": True,
        "schema": None,
    }


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
        ({"url": "http://a", "properties_tmeout": "5"}, "properties.tmeout is none of the registry's client"),
        ({"url": "http://a", "nonsense": "5"}, "unknown option"),
    ],
)
def test_refused_options(given: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionsError) as caught:
        parsed(**given)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "module", "name", "options", "extra"),
    [
        ("pyruhvro", "millrace_formats.avro", "AvroFormat", "", "avro"),
        ("pyruhvro", "millrace_formats.avro.confluent_format", "AvroConfluentFormat", "RegistryOptions(url='http://a')",
         "avro-confluent"),
        ("authlib", "millrace_formats.avro.debezium_format", "DebeziumAvroConfluentFormat",
         "RegistryOptions(url='http://a')", "avro-confluent"),
    ],
)  # fmt: skip
def test_a_missing_library_is_told_with_how_to_install_it(
    missing: str, module: str, name: str, options: str, extra: str
) -> None:
    told = run(MISSING.format(missing=missing, module=module, name=name, options=options))
    assert told.startswith("MachineError format")
    assert told.endswith(f"pip install 'millrace-formats[{extra}]'")


def test_the_formats_import_what_they_use() -> None:
    program = """
import sys
import {module}
print(*sorted(name for name in ("pydantic", "pyruhvro", "confluent_kafka", "authlib", "pandas") if name in sys.modules))
"""
    for module in ("millrace_formats.avro", "millrace_formats.avro.confluent_format"):
        assert run(program.format(module=module)) == ""
