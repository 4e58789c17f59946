"""SQL and pipelines by themselves, as a program on a cluster needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.environments import make_library_environment

PROGRAM = Path(__file__).parent / "programs" / "use_library.py"


@pytest.mark.parametrize(("package", "result"), [("millrace-sql", [[3]]), ("millrace-cdc", ["shop.orders"])])
def test_a_library_needs_neither_the_command_line_nor_the_embedded_broker(wheels, tmp_path, package: str, result: Any):
    environment = make_library_environment(tmp_path / "environment", wheels, package)
    module = package.replace("-", "_")

    shown = json.loads(environment.output("python", PROGRAM, module, cwd=tmp_path).splitlines()[-1])

    assert shown == {"result": result, "modules": sorted(["millrace", "millrace_catalog", module])}
