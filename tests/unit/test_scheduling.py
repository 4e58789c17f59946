"""Tests that share expensive fixtures stay in one worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.scheduling import _WITH_CLUSTERS, scope

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["integration", "deployments", "installed"])
def test_a_file_with_brokers_stays_in_one_worker(folder):
    file = f"tests/{folder}/test_a.py"
    assert (
        scope(f"{file}::test_one[a::b]") == scope(f"{file}::TestTwo::test_three") != scope(f"{file[:-4]}b.py::test_one")
    )


def test_clusters_run_one_after_the_other():
    one, other = (f"{file}::test_a" for file in _WITH_CLUSTERS)
    assert scope(one) == scope(other)
    assert all((ROOT / file).is_file() for file in _WITH_CLUSTERS)


@pytest.mark.parametrize("file", ["tests/unit/test_a.py", "tests/faults/test_driver.py"])
def test_other_tests_go_wherever_a_worker_is_free(file):
    assert scope(f"{file}::test_one") != scope(f"{file}::test_two")
