"""Import a package's public names when they are first used.

Spark imports `millrace` in every session of every user, and pytest the plugin of `millrace_broker` in every test run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_imports(
    package: str, names: Mapping[str, Sequence[str]], prepare: Callable[[str], object] = lambda _: None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a module's ``__getattr__`` and ``__dir__`` (PEP 562), which import what is asked for and keep it.

    The same names stand in the package's ``__all__``, and in imports under ``TYPE_CHECKING`` for type checkers.

    Args:
        package: The package's ``__name__``.
        names: The public names by the module that defines them.
        prepare: Called with a module before it is imported.
    """
    module_of = {name: module for module, defined in names.items() for name in defined}

    def import_name(name: str) -> Any:
        if name not in module_of:
            known = ", ".join(sorted(module_of))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {known}")
        module = module_of[name]
        prepare(module)
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return import_name, list_names
