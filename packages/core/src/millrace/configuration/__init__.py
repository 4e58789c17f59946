"""Configurations of a source and a sink: parsed and checked on the driver, sent to executors as they are."""

from millrace.configuration.model import SinkConfig, SourceConfig

__all__ = ["SinkConfig", "SourceConfig"]
