"""The skeletons of plugins in the docs keep the contracts of their kinds: their suites are collected here."""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from millrace.plugins import kinds

PAGE = (Path(__file__).parents[2] / "docs/plugin-skeletons.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
MODULE = "acme_kafka_skeletons"

# A module of its own, which the processes that suites start can import, too
_folder = tempfile.TemporaryDirectory()
(Path(_folder.name) / f"{MODULE}.py").write_text("\n\n".join(BLOCKS))
sys.path.insert(0, _folder.name)
_skeletons = importlib.import_module(MODULE)
globals().update({name: value for name, value in vars(_skeletons).items() if name.startswith("Test")})


@pytest.fixture(scope="module", autouse=True)
def module_of_other_processes() -> Iterator[None]:
    """Let the processes that suites start import the skeletons."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", _folder.name, prepend=os.pathsep)
        yield


def test_each_kind_has_a_skeleton() -> None:
    classes = [value for value in vars(_skeletons).values() if isinstance(value, type) and value.__module__ == MODULE]
    bases = {f"millrace.contracts:{base.__name__}" for each in classes for base in each.__mro__}
    assert [kind.name for kind in kinds.KINDS if kind.base not in bases] == []


def test_the_package_is_a_project() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert tomllib.loads(text)["project"]["entry-points"]["millrace"] == {"acme": "acme_kafka.plugin"}
