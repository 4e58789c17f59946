"""Reads and writes need the plugins that they use, not those of the other direction."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from importlib import metadata
from importlib.abc import MetaPathFinder

missing = sys.argv[1]
distribution, module = f"millrace-{missing}", f"millrace_{missing}"

class NotInstalled(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

installed = metadata.entry_points
metadata.entry_points = lambda **given: metadata.EntryPoints(
    each for each in installed(**given) if each.dist is None or each.dist.name != distribution
)
sys.meta_path.insert(0, NotInstalled())

from millrace.configuration.build import check_options, configure_sink, configure_source
from millrace.errors import OptionsError

options = dict(each.split("=", 1) for each in sys.argv[3:])
options["properties.bootstrap.servers"] = "h:1"
check_options(options)
print({"read": configure_source, "write": configure_sink}[sys.argv[2]](options).client["bootstrap.servers"])
assert not [name for name in sys.modules if name.partition(".")[0] == module]
"""

ALL_OPTIONS = (
    "format=json",
    "scan.startup.mode=timestamp",
    "scan.startup.timestamp-millis=1",
    "scan.bounded.mode=latest-offset",
    "scan.header-filter=a:b",
    "sink.partitioner=fixed",
)


def configure_without(package: str, direction: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", PROGRAM, package, direction, *options]
    return subprocess.run(program, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("package", "direction"),
    [("partitioners", "read"), ("offsets", "write"), ("filters", "write"), ("catalog", "read"), ("catalog", "write")],
)
@pytest.mark.parametrize("options", [(), ALL_OPTIONS])
def test_a_direction_needs_no_plugins_of_the_other(package: str, direction: str, options: tuple[str, ...]) -> None:
    run = configure_without(package, direction, *options)
    assert (run.stdout, run.stderr) == ("h:1\n", "")


@pytest.mark.parametrize(
    ("package", "direction", "problem"),
    [
        ("partitioners", "write", "option 'sink.partitioner': unknown partitioner 'fixed'"),
        ("offsets", "read", "option 'scan.startup.mode': unknown offset initializer 'timestamp'"),
        ("filters", "read", "option 'scan.filter.language': unknown header filter 'expression'"),
    ],
)
def test_a_plugin_that_a_direction_needs_is_named_with_its_package(package: str, direction: str, problem: str) -> None:
    run = configure_without(package, direction, *ALL_OPTIONS)
    assert run.returncode == 1
    assert problem in run.stderr
    assert f"Install it with: pip install millrace-{package}" in run.stderr
