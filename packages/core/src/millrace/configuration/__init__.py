"""The finished configuration of a source and a sink: parsed on the driver, sent to executors as it is."""

from millrace.configuration.model import Configuration, SinkConfig, SourceConfig

__all__ = ["Configuration", "SinkConfig", "SourceConfig"]
