from __future__ import annotations

import subprocess
import sys

from millrace_formats.plugin import millrace_formats

CHECK = """
import sys
import {module}
print(*sorted(name for name in {heavy!r} if name in sys.modules))
"""


def imported(module: str, *heavy: str) -> list[str]:
    command = [sys.executable, "-c", CHECK.format(module=module, heavy=heavy)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_formats_are_offered_by_name() -> None:
    assert sorted(millrace_formats()) == [
        "avro",
        "avro-confluent",
        "canal-json",
        "csv",
        "debezium-avro-confluent",
        "debezium-json",
        "json",
        "json-confluent",
        "maxwell-json",
        "ogg-json",
        "protobuf",
        "protobuf-confluent",
        "raw",
    ]


def test_listing_formats_imports_no_format() -> None:
    assert (
        imported("millrace_formats.plugin", "pyarrow", "msgspec", "arro3.io", "pydantic", "millrace_formats.json") == []
    )


def test_executors_import_no_pydantic_and_only_what_they_use() -> None:
    changes = [f"millrace_formats.changelog.{tool}_json" for tool in ("canal", "debezium", "maxwell", "ogg")]
    for module in ("millrace_formats.json", "millrace_formats.csv", "millrace_formats.raw", *changes):
        assert imported(module, "pydantic", "arro3.io", "pandas", "pyspark") == []
