"""Changes of Debezium: in JSON, and those whose types a schema registry has, read by a plugin of the formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from millrace.errors import OptionsError
from millrace.plugins.manager import PluginRef
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader
from millrace_catalog.inference.debezium_types import OutOfRange

if TYPE_CHECKING:
    from millrace.contracts import ConnectReader

FORMAT_NAME = "debezium-avro-confluent"


@dataclass(frozen=True, kw_only=True)
class DebeziumChangeOptions(DebeziumInferenceOptions):
    """Options of changes of Debezium.

    Attributes:
        out_of_range: What becomes of dates and times that the types of their columns do not hold.
    """

    out_of_range: OutOfRange = "text"


@dataclass(frozen=True, kw_only=True)
class RegistryChangeOptions(DebeziumChangeOptions):
    """Options of changes whose types a registry has.

    Attributes:
        format: The format, with its own options.
    """

    format: PluginRef


def debezium_change_reader(topic: str, options: DebeziumInferenceOptions) -> DebeziumReader:
    """Return a reader of a topic's messages in JSON."""
    change_options = options if isinstance(options, DebeziumChangeOptions) else DebeziumChangeOptions()
    return DebeziumReader(topic, options, out_of_range=change_options.out_of_range)


def registry_change_reader(topic: str, options: RegistryChangeOptions) -> DebeziumReader:
    """Return a reader of a topic's messages, which become changes as those of debezium-json with schemas do.

    Raises:
        OptionsError: The installed format does not declare the types of its messages.
    """
    return DebeziumReader(topic, options, connect_reader_of(options), options.out_of_range)


def connect_reader_of(options: RegistryChangeOptions) -> ConnectReader:
    """Return a reader of the records in keys or values.

    Raises:
        OptionsError: The installed format does not declare the types of its messages.
    """
    read = options.format.create().connect_reader()
    if read is None:
        name = options.format.name
        raise OptionsError("source", (f"format {name!r} does not say the types of its messages: update its package",))
    return read
