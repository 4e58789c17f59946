"""The hooks of this package: what it offers, and where the classes are."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_catalogs() -> Mapping[str, str]:
    """The catalogs of this package."""
    return {"kafka": "millrace_catalog.tables.catalog:KafkaJsonCatalog"}


@hookimpl
def millrace_formats() -> Mapping[str, str]:
    """The formats of this package."""
    return {"json-evolving": "millrace_catalog.evolution.evolving_json.format:EvolvingJsonFormat"}


@hookimpl
def millrace_schema_inferences() -> Mapping[str, str]:
    """The formats for which this package tells the columns of a read."""
    return {"json": "millrace_catalog.inference.schema_inference:JsonSchemaInference"}
