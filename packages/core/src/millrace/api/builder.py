"""The common part of builders: options that are set one by one, and the problems found in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self

from millrace.errors import OptionsError, PluginError
from millrace.options import options_of
from millrace.options.parser import show
from millrace.options.secrets import Properties
from millrace.plugins.kinds import Kind
from millrace.plugins.manager import plugin_manager

_LIST_OPTIONS = {"metadata.columns"}
"""Options that are lists: a later value is appended."""


class _Setting(NamedTuple):
    method: str
    name: str
    text: str


class BuilderOptions:
    """Options that are set one after the other, each once; their text shows no secret."""

    def __init__(self) -> None:
        self._settings: dict[str, _Setting] = {}
        self._problems: dict[str, None] = {}

    @property
    def options(self) -> Properties:
        """The options that are set so far."""
        return Properties({setting.name: setting.text for setting in self._settings.values()})

    def has(self, *names: str) -> bool:
        """Return whether one of these options is set, ignoring case as Spark does."""
        return any(name.lower() in self._settings for name in names)

    def value(self, name: str) -> str | None:
        """Return the value of an option; None when it is not set."""
        setting = self._settings.get(name.lower())
        return setting.text if setting else None

    def set(self, method: str, options: Mapping[str, object]) -> None:
        """Set options; a value of the wrong type, or one that contradicts another, is reported as a problem.

        Args:
            method: The builder's method that sets them, for messages.
            options: Their values by name.
        """
        for name, value in options.items():
            try:
                setting = _Setting(method, name, _option_text(value))
            except ValueError as error:
                self.report(f"{method}: option {name!r}: {error}")
                continue
            self._add(setting)

    def report(self, problem: str) -> None:
        """Add a problem, to be raised with all others by `raise_problems`."""
        self._problems[problem] = None

    def raise_problems(self, subject: str, further: Iterable[str] = ()) -> None:
        """Raise all problems, if there are any.

        Args:
            subject: What is being built, for the message.
            further: Problems that are not final, since calls that follow may solve them.

        Raises:
            OptionsError: There are problems.
        """
        problems = tuple(dict.fromkeys([*self._problems, *further]))
        if problems:
            raise OptionsError(subject, problems)

    def _add(self, setting: _Setting) -> None:
        key = setting.name.lower()
        first = self._settings.setdefault(key, setting)
        if first.text != setting.text and key in _LIST_OPTIONS:
            self._settings[key] = first._replace(text=f"{first.text}, {setting.text}")
        elif first.text != setting.text:
            self.report(
                f"option {first.name!r} is set to {show(first.name, first.text)} by {first.method} and to "
                f"{show(setting.name, setting.text)} by {setting.method}; set it once"
            )

    def __repr__(self) -> str:
        return repr(self.options)


class Builder:
    """Collect options; each method returns the builder itself, and ``build()`` checks all of them."""

    def __init__(self) -> None:
        self._options = BuilderOptions()

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set the brokers to connect to first.

        Args:
            bootstrap_servers: As ``host:port,host:port``.
        """
        return self._set("set_bootstrap_servers", {"properties.bootstrap.servers": bootstrap_servers})

    def set_property(self, key: str, value: object) -> Self:
        """Set a property of the Kafka client: the option ``properties.<key>``.

        Args:
            key: Kafka's Java name or librdkafka's.
            value: Its value.
        """
        return self._set("set_property", {f"properties.{key}": value})

    def set_option(self, name: str, value: object) -> Self:
        """Set an option of the data source, such as one that has no method of its own.

        Args:
            name: Its whole name.
            value: Its value.
        """
        return self._set("set_option", {name: value})

    def _set(self, method: str, options: Mapping[str, object]) -> Self:
        self._options.set(method, options)
        return self

    def _set_properties(self, method: str, properties: Mapping[str, object]) -> Self:
        return self._set(method, {f"properties.{name}": value for name, value in properties.items()})

    def _checked_options(
        self,
        subject: str,
        missing: Iterable[str],
        defaults: Mapping[str, str],
        configure: Callable[[Mapping[str, str]], object],
    ) -> Properties:
        """Check the options as the data source does.

        Args:
            subject: What is being built, for the message.
            missing: Problems of methods that were not called.
            defaults: Options to add.
            configure: Parses the options of a source, or of a sink.

        Raises:
            OptionsError: Something is wrong or missing; the message lists all problems.
        """
        options = Properties({**self._options.options, **defaults})
        problems = list(missing)
        try:
            configure(options)
        except OptionsError as error:
            problems += error.problems
        self._options.raise_problems(subject, problems)
        return options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._options})"


def plugin_options(
    kind: Kind[Any], option: str, name: object, prefix: str, arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return the options that choose a plugin and configure it.

    Args:
        kind: The plugin's kind.
        option: The option that chooses the plugin.
        name: Its name.
        prefix: The prefix of the plugin's own options.
        arguments: The values of these by their names or, for Python's keywords, with ``_`` in place of ``-`` and ``.``.
    """
    if not isinstance(name, str):
        # Setting the option reports that it is no name
        return {option: name}
    names = {re.sub(r"[-.]", "_", plugin_option): plugin_option for plugin_option in _option_names(kind, name)}
    own = {names.get(key, key.replace("_", "-")): value for key, value in arguments.items()}
    return {option: name, **{f"{prefix}{key}": value for key, value in own.items()}}


def _option_names(kind: Kind[Any], name: str) -> list[str]:
    try:
        options = plugin_manager().load(kind, name).Options
    except PluginError:
        # The check of all options reports that the plugin cannot be used
        return []
    return [info.name for info in options_of(options).values()]


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    # Only the type is named: the value may be a secret
    raise ValueError(f"expected a text, a number, True or False; got {type(value).__name__}")
