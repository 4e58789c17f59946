from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from millrace_partitioner_example import plugin
from millrace_partitioner_example.region import RegionPartitioner


def test_millrace_finds_the_package() -> None:
    registered = [entry_point.load() for entry_point in entry_points(group="millrace", name="partitioner-example")]
    assert registered == [plugin], "install the package first: pip install -e ."


def test_the_name_leads_to_the_class() -> None:
    (target,) = plugin.millrace_partitioners().values()
    assert EntryPoint("by-region", target, "millrace").load() is RegionPartitioner
