"""The base of all plugin kinds: a class with typed options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class NoOptions:
    """The options of a plugin that has none."""


class Plugin:
    """Base of every plugin class.

    A plugin declares its options as a frozen dataclass whose fields are defined with `millrace.options.option`. The
    driver parses and checks them once. Executors receive the dataclass and create the plugin from it.

    Args:
        options: An instance of the class's ``Options``.
    """

    Options: ClassVar[type] = NoOptions

    def __init__(self, options: Any = None) -> None:
        self.options = self.Options() if options is None else options

    @classmethod
    def check_requirements(cls) -> None:
        """Check that this machine has what the plugin needs besides its package, such as an extra's libraries.

        ``millrace plugins`` calls it for each installed plugin. The default implementation checks nothing.

        Raises:
            MachineError: Something is missing; the message says how to install it.
        """
