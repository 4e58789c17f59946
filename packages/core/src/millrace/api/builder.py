"""What the builders of sources and of sinks have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Self

from millrace.api.builder_options import Settings
from millrace.errors import OptionsError
from millrace.options.secrets import Properties


class Builder:
    """Collects options; each of its methods returns the builder itself, and nothing is checked before ``build()``."""

    def __init__(self) -> None:
        self._settings = Settings()

    def set_bootstrap_servers(self, servers: str) -> Self:
        """Name the Kafka brokers to ask first.

        Args:
            servers: As ``host:port,host:port``.
        """
        return self._set("set_bootstrap_servers", {"properties.bootstrap.servers": servers})

    def set_property(self, name: str, value: object) -> Self:
        """Set a property of the Kafka client: the option ``properties.<name>``.

        Args:
            name: Kafka's Java name or librdkafka's.
            value: Its value.
        """
        return self._set("set_property", {f"properties.{name}": value})

    def set_option(self, name: str, value: object) -> Self:
        """Set an option of the data source, such as one that has no method of its own.

        Args:
            name: Its whole name.
            value: Its value.
        """
        return self._set("set_option", {name: value})

    def _set(self, method: str, options: Mapping[str, object]) -> Self:
        self._settings.set(method, options)
        return self

    def _set_properties(self, method: str, properties: Mapping[str, object]) -> Self:
        return self._set(method, {f"properties.{name}": value for name, value in properties.items()})

    def _finished(
        self,
        what: str,
        missing: Iterable[str],
        defaults: Mapping[str, str],
        configure: Callable[[Mapping[str, str]], object],
    ) -> Properties:
        """Return the options, checked as the data source checks them.

        Args:
            what: The class that is built, for the message.
            missing: Problems of methods that were not called.
            defaults: Options that hold unless others are set.
            configure: Parses the options for the direction of the class.

        Raises:
            OptionsError: Something is wrong or missing; every problem is in the one message.
        """
        options = Properties({**self._settings.options, **defaults})
        problems = list(missing)
        try:
            configure(options)
        except OptionsError as error:
            problems += error.problems
        self._settings.refuse(what, problems)
        return options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings})"
