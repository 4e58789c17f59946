"""Hooks of this package: the names of its plugins and their import strings."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_pipeline_sources() -> Mapping[str, str]:
    """Return the pipeline sources of this package."""
    return {
        "jdbc": "millrace_cdc.connectors.jdbc.source:JdbcPipelineSource",
        "kafka": "millrace_cdc.connectors.kafka.source:KafkaPipelineSource",
        "values": "millrace_cdc.connectors.values.source:ValuesPipelineSource",
    }


@hookimpl
def millrace_pipeline_sinks() -> Mapping[str, str]:
    """Return the pipeline sinks of this package."""
    return {
        "delta": "millrace_cdc.connectors.delta.sink:DeltaPipelineSink",
        "iceberg": "millrace_cdc.connectors.iceberg.sink:IcebergPipelineSink",
        "jdbc": "millrace_cdc.connectors.jdbc.sink:JdbcPipelineSink",
        "kafka": "millrace_cdc.connectors.kafka.sink:KafkaPipelineSink",
        "parquet": "millrace_cdc.connectors.parquet.sink:ParquetPipelineSink",
        "values": "millrace_cdc.connectors.values.sink:ValuesPipelineSink",
    }
