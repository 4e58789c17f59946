"""Hooks of this package: the names of its plugins and their import strings."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_catalogs() -> Mapping[str, str]:
    """Return the catalogs of this package."""
    return {"kafka": "millrace_catalog.tables.catalog:KafkaJsonCatalog"}


@hookimpl
def millrace_formats() -> Mapping[str, str]:
    """Return the formats of this package."""
    return {"json-evolving": "millrace_catalog.evolution.evolving_json.format:EvolvingJsonFormat"}


@hookimpl
def millrace_schema_inferences() -> Mapping[str, str]:
    """Return the schema inferences of this package, by format."""
    return {
        "json": "millrace_catalog.inference.json_inference:JsonSchemaInference",
        "canal-json": "millrace_catalog.inference.changelog_inference:CanalSchemaInference",
        "debezium-json": "millrace_catalog.inference.changelog_inference:DebeziumSchemaInference",
        "maxwell-json": "millrace_catalog.inference.changelog_inference:MaxwellSchemaInference",
        "ogg-json": "millrace_catalog.inference.changelog_inference:OggSchemaInference",
    }
