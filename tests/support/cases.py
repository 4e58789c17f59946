"""Data of independent implementations to compare with: in the folder MILLRACE_CASES, or in one beside the clone.

Tests that read them are marked `cases`, and are not collected where there are none.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_NAMED = os.environ.get("MILLRACE_CASES")

CASES = Path(_NAMED).resolve() if _NAMED else Path(__file__).parents[3] / "shared" / "cases"
"""Change logs, vectors and tables of types, with the results that they must give."""

REFERENCE = CASES.parent / "reference"
"""The pages of the reference, beside the cases."""


_FLINK_CDC = os.environ.get("MILLRACE_FLINK_CDC")

GOLDEN_SPECS = Path(_FLINK_CDC or "").resolve() / "flink-cdc-composer/src/test/resources/specs"
"""The golden specs of transforms, in a checkout of Flink CDC."""


def have_golden_specs() -> bool:
    """Return whether there are golden specs.

    Raises:
        pytest.UsageError: MILLRACE_FLINK_CDC names no checkout.
    """
    if _FLINK_CDC and not GOLDEN_SPECS.is_dir():
        raise pytest.UsageError(f"MILLRACE_FLINK_CDC names no checkout of Flink CDC: there is no {GOLDEN_SPECS}")
    return bool(_FLINK_CDC)


def have_cases() -> bool:
    """Return whether there are cases.

    Raises:
        pytest.UsageError: MILLRACE_CASES names no folder.
    """
    if _NAMED and not CASES.is_dir():
        raise pytest.UsageError(f"MILLRACE_CASES names {CASES}, which is no folder: name the folder of the cases")
    return CASES.is_dir()
