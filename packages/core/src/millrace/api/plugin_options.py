"""A plugin and its options, given in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from millrace.errors import PluginError
from millrace.options import options_of
from millrace.plugins.kinds import Kind
from millrace.plugins.manager import plugin_manager


def plugin_options(
    kind: Kind[Any], option: str, name: object, prefix: str, given: Mapping[str, object]
) -> dict[str, object]:
    """The options that name a plugin and are its own.

    Args:
        kind: What the plugin is.
        option: The option that names it.
        name: Its name.
        prefix: What stands before the names of its own options.
        given: These, under the names that it gives them or, as Python's keywords, with ``_`` in place of ``-`` and
            ``.``.
    """
    if not isinstance(name, str):
        # That it is no name is told where the option is set
        return {option: name}
    declared = {re.sub(r"[-.]", "_", each): each for each in _declared(kind, name)}
    own = {declared.get(key, key.replace("_", "-")): value for key, value in given.items()}
    return {option: name, **{f"{prefix}{key}": value for key, value in own.items()}}


def _declared(kind: Kind[Any], name: str) -> list[str]:
    try:
        options = plugin_manager().load(kind, name).Options
    except PluginError:
        # That the plugin cannot be used is told when all options are checked
        return []
    return [info.name for info in options_of(options).values()]
