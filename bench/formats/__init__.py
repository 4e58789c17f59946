"""The formats that are measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.connector_jars import AVRO, PROTOBUF, format_jars
from bench.formats.avro_confluent import avro_confluent
from bench.formats.case import FormatCase
from bench.formats.csv import csv
from bench.formats.debezium_json import debezium_json
from bench.formats.json import json
from bench.formats.protobuf import protobuf
from bench.schema_registry import SchemaRegistry

FORMATS = ("json", "csv", "avro-confluent", "protobuf", "debezium-json")
"""Names of the formats, in the order in which they are measured."""


def format_case(
    name: str, registry: SchemaRegistry, folder: Path, jars: Mapping[str, Path] | None = None
) -> FormatCase:
    """Make the case of a format.

    Args:
        name: Its name.
        registry: For schemas.
        folder: For files, such as descriptors.
        jars: Spark's own formats by the names of their artifacts; by default they are fetched.
    """
    jars = format_jars() if jars is None else jars
    if name == "avro-confluent":
        return avro_confluent(registry, has_jar=AVRO in jars)
    if name == "protobuf":
        return protobuf(folder, has_jar=PROTOBUF in jars)
    return {"json": json, "csv": csv, "debezium-json": debezium_json}[name]()
