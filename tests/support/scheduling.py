"""Tests that stay together in one worker of pytest-xdist, in their order."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling

# Their files set up brokers, clusters and servers of their own; tests of faults take long, and mostly share none
_BY_FILE = ("tests/integration/", "tests/deployments/", "tests/installed/")

# A cluster has up to five Java processes: one at a time is enough for two cores
_WITH_CLUSTERS = ("tests/faults/test_brokers_down.py", "tests/faults/test_speculation.py")


class SharedFixtures(LoadScopeScheduling):
    """Let each file have its expensive fixtures in one worker; all other tests go wherever a worker is free.

    xdist's own marks of groups travel in the ids of tests, and have no effect since pytest 9.2, which does not let ids
    be changed.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """Return the name that tests share which stay together."""
    file = nodeid.partition("::")[0]
    if file in _WITH_CLUSTERS:
        return "clusters"
    return file if file.startswith(_BY_FILE) else nodeid


def make_scheduler(config: Any, log: Any) -> SharedFixtures | None:
    """Return the scheduler for ``--dist loadgroup``; other ways to distribute tests stay as they are."""
    return SharedFixtures(config, log) if config.getvalue("dist") == "loadgroup" else None
