"""The tests that the conformance suites of all plugins with options share."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
import pickle
from abc import ABC, abstractmethod
from typing import Any

from millrace.contracts import Plugin
from millrace.options import options_of
from millrace.options.parser import OptionParser


class PluginOptionsSuite(ABC):
    """Tests of a plugin's options: the driver parses them, executors receive them pickled.

    Rules that the tests check:

    - ``Options`` is a frozen dataclass at the top level of a module, each field declared by `millrace.options.option`;
      a plugin without options leaves it out.
    - All options have defaults, or the user must give them: ``Options()`` has the values that the driver parses from
      nothing.
    - Options are equal when their values are, also after they have been pickled: what they hold needs ``__eq__``.
    - The plugin is made of its options alone, ``type(plugin)(options)``, and keeps them as ``options``.
    """

    @abstractmethod
    def make_plugin(self) -> Plugin:
        """Make a new plugin with valid options."""

    def remake_plugin(self) -> Plugin:
        """Make the plugin as an executor does: its class, with options that were pickled."""
        plugin = self.make_plugin()
        try:
            options = pickle.loads(pickle.dumps(plugin.options))  # noqa: S301 - pickled in the same line
        except Exception as error:
            raise AssertionError(
                f"executors receive the options pickled, which fails: {error}. Define their class, and those of their "
                f"values, at the top level of a module, and keep clients, locks and open files out of them"
            ) from error
        return type(plugin)(options)

    def test_options_are_a_frozen_dataclass(self) -> None:
        options = type(self.make_plugin()).Options
        assert dataclasses.is_dataclass(options), f"{options} must be a dataclass"
        parameters: Any = options.__dict__["__dataclass_params__"]
        assert parameters.frozen, f"{options} must be frozen: @dataclass(frozen=True)"

    def test_every_option_has_a_public_name(self) -> None:
        options = type(self.make_plugin()).Options
        fields = {field.name for field in dataclasses.fields(options)}
        assert set(options_of(options)) == fields, "declare every field of Options with millrace.options.option"

    def test_driver_can_parse_the_options(self) -> None:
        options = type(self.make_plugin()).Options
        parsed = OptionParser("plugin", {}).take(options)
        some_required = any(field.default is dataclasses.MISSING for field in dataclasses.fields(options))
        assert some_required or parsed == options(), "options that are not given must have their declared defaults"

    def test_plugin_keeps_its_options(self) -> None:
        plugin = self.make_plugin()
        assert isinstance(plugin.options, type(plugin).Options), (
            "the attribute `options` must be an instance of the class's `Options`: call super().__init__(options)"
        )

    def test_options_survive_pickling(self) -> None:
        assert self.remake_plugin().options == self.make_plugin().options, (
            "options must be equal after pickling: give what they hold an __eq__, and let `make_plugin` use the "
            "same values "
            "each time"
        )
