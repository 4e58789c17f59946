"""Every option of an offset initializer is tested by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from millrace.options import options_of
from millrace.plugins.kinds import OFFSET_INITIALIZER
from millrace.plugins.manager import plugin_manager

FILES = [
    *Path(__file__).parent.glob("test_[!o]*.py"),
    Path(__file__).parents[1] / "core/configuration/test_spark_compat.py",
]
TESTS = "".join(path.read_text() for path in FILES)
NAMES = [
    info.name
    for name in plugin_manager().names(OFFSET_INITIALIZER)
    for info in options_of(plugin_manager().load(OFFSET_INITIALIZER, name).Options).values()
]


@pytest.mark.parametrize("name", NAMES)
def test_the_option_is_tested(name: str) -> None:
    assert name in TESTS
