from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path

import pytest


class Packages:
    """Write plugin packages, with their metadata, into a folder that is on sys.path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def add(
        self, name: str, *, hooks: str | None, version: str = "1.0", modules: dict[str, str] | None = None
    ) -> list[EntryPoint]:
        """Install a package whose hooks have this source (none: the entry point leads nowhere); its entry points."""
        module = f"{name.replace('-', '_')}_plugin"
        sources = dict(modules or {})
        if hooks is not None:
            sources[module] = f"from millrace.plugins import hookimpl\n\n{hooks}"
        for each, source in sources.items():
            (self._root / f"{each}.py").write_text(source)
        metadata = self._root / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (metadata / "entry_points.txt").write_text(f"[millrace]\nplugins = {module}\n")
        return list(Distribution.at(metadata).entry_points)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield Packages(tmp_path)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def offering(hook: str, answer: str) -> str:
    return f"@hookimpl\ndef {hook}():\n    return {answer}\n"


@pytest.fixture(name="offering")
def _offering() -> object:
    """The source of a module with one hook."""
    return offering
