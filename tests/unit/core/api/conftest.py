"""Fixtures for tests of builders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from millrace.errors import OptionsError


@pytest.fixture
def problems() -> Callable[[Any], tuple[str, ...]]:
    """The problems that ``build()`` reports, all at once."""

    def of(builder: Any) -> tuple[str, ...]:
        with pytest.raises(OptionsError) as error:
            builder.build()
        return error.value.problems

    return of
