"""The base of all plugin kinds: a class with typed options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class NoOptions:
    """The options of a plugin that has none."""


class Plugin:
    """Base of every plugin class.

    A plugin's options are a frozen dataclass whose fields are made by `millrace.options.option`. The driver parses and
    checks them once; executors receive the finished dataclass and build the plugin from it.

    Args:
        options: An instance of the class's ``Options``.
    """

    Options: ClassVar[type] = NoOptions

    def __init__(self, options: Any = None) -> None:
        self.options = self.Options() if options is None else options

    @classmethod
    def check_requirements(cls) -> None:
        """Check that this machine has what the plugin needs beside its package, such as the libraries of an extra.

        ``millrace plugins`` calls it for each installed plugin. By default nothing else is needed.

        Raises:
            MachineError: Something is missing; the message says how to install it.
        """
