from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points

from millrace.contracts import OffsetInitializer, StandardOffsets
from millrace_offsets import plugin


def test_every_name_leads_to_a_class_of_its_kind() -> None:
    offered = plugin.millrace_offset_initializers()
    assert set(offered) == {"earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"}
    assert set(offered) == {name for key, name in vars(StandardOffsets).items() if key.isupper()}
    for name, where in offered.items():
        assert issubclass(EntryPoint(name, where, "").load(), OffsetInitializer)


def test_the_package_is_found_by_its_entry_point() -> None:
    assert plugin in [entry_point.load() for entry_point in entry_points(group="millrace", name="offsets")]


def test_listing_imports_no_implementation() -> None:
    modules = [where.partition(":")[0] for where in plugin.millrace_offset_initializers().values()]
    program = f"import sys, millrace_offsets.plugin; print([m for m in {modules!r} if m in sys.modules])"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "[]"
