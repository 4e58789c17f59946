"""Tiers of tests: what `tox` runs, and what waits for the night; see ``tests/README.md``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def nightly_but(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Return parameters of a test, of which all but the given ones run at night only.

    Args:
        values: The parameters; tuples where a test has several.
        quick: Those that `tox` runs.

    Raises:
        ValueError: A given one is not among the parameters, so that it would run nowhere.
    """
    values = list(values)
    unknown = [each for each in quick if each not in values]
    if unknown:
        raise ValueError(f"expected parameters of the test, got {unknown}; there are {values}")
    return [value if value in quick else _nightly(value) for value in values]


def _nightly(value: Any) -> Any:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.nightly)
