from __future__ import annotations

import dataclasses
import importlib

import pytest

from millrace.contracts import Plugin
from millrace.plugins.kinds import KINDS, Kind
from millrace.plugins.manager import plugin_manager


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_plugins_of_every_kind_have_typed_options(kind: Kind) -> None:
    module, _, name = kind.base.partition(":")
    assert issubclass(getattr(importlib.import_module(module), name), Plugin)
    for each in plugin_manager().names(kind):
        options = plugin_manager().load(kind, each).Options
        assert dataclasses.is_dataclass(options), each
