from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from millrace.plugins.kinds import FORMAT, KINDS, PIPELINE_SINK, SCHEMA_INFERENCE
from millrace.plugins.own_packages import package_for

DOCS = Path(__file__).parents[4] / "docs"


def test_the_list_is_what_the_entry_points_of_all_packages_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    import generate_own_packages

    assert generate_own_packages.PAGE.read_text() == generate_own_packages.render(), "run: tox -e docs"
    assert json.loads(generate_own_packages.render()).keys() == {kind.name for kind in KINDS}
    del sys.modules["generate_own_packages"]


def test_a_plugin_that_several_packages_share_a_kind_with_has_its_own() -> None:
    assert package_for(FORMAT, "avro") == "millrace-formats"
    assert package_for(FORMAT, "json-evolving") == "millrace-catalog"
    assert package_for(PIPELINE_SINK, "iceberg") == "millrace-cdc"
    assert package_for(SCHEMA_INFERENCE, "no-such") is None
