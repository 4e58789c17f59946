"""Names and defaults of options, missing libraries, and imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from millrace.options import options_of
from millrace_formats.avro import AvroOptions
from millrace_formats.avro.registry.options import AvroRegistryOptions

MISSING = """
import sys
sys.modules[{missing!r}] = None
import pyarrow as pa
from {module} import {name}
from millrace_formats.avro.registry.options import AvroRegistryOptions
try:
    {name}({options}).decoder(pa.schema([("a", pa.int32())]))
except Exception as error:
    print(type(error).__name__, error)
"""


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_names_and_defaults_are_those_of_flink() -> None:
    options = AvroRegistryOptions(url="http://localhost:8081")
    found = {info.name: getattr(options, field) for field, info in options_of(AvroRegistryOptions).items()}
    assert found == {
        "url": "http://localhost:8081",
        "subject": None,
        "subject-name-strategy": "topic",
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


@pytest.mark.parametrize(
    ("missing", "module", "name", "options", "extra"),
    [
        ("pyruhvro", "millrace_formats.avro", "AvroFormat", "", "avro"),
        ("pyruhvro", "millrace_formats.avro.confluent_format", "AvroConfluentFormat", "AvroRegistryOptions(url='http://a')",
         "avro-confluent"),
        ("authlib", "millrace_formats.avro.debezium_format", "DebeziumAvroConfluentFormat",
         "AvroRegistryOptions(url='http://a')", "avro-confluent"),
    ],
)  # fmt: skip
def test_an_error_says_how_to_install_a_missing_library(
    missing: str, module: str, name: str, options: str, extra: str
) -> None:
    output = run(MISSING.format(missing=missing, module=module, name=name, options=options))
    assert output.startswith("MachineError format")
    assert output.endswith(f"pip install 'millrace-formats[{extra}]'")


def test_the_formats_import_what_they_use() -> None:
    program = """
import sys
import {module}
print(*sorted(name for name in ("pydantic", "pyruhvro", "confluent_kafka", "authlib", "pandas") if name in sys.modules))
"""
    for module in ("millrace_formats.avro", "millrace_formats.avro.confluent_format"):
        assert run(program.format(module=module)) == ""
