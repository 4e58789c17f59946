"""Options of formats that a pipeline does not use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from millrace.contracts import OptionProblem
from millrace.options import options_of

_FORMATS = ("json", "confluent")


def unused_format_options(options: Any) -> Iterator[OptionProblem]:
    """Yield the options of formats that are not the format of values, where they differ from their defaults."""
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for field, info in options_of(type(options)).items():
        prefix = info.name.partition(".")[0]
        is_unused = prefix.endswith(_FORMATS) and prefix != options.value_format
        if not is_unused or getattr(options, field) == defaults[field]:
            continue
        yield OptionProblem(
            info.name,
            f"option {info.name!r} is for 'value.format: {prefix}', but the format is {options.value_format}: "
            f"remove one of them",
        )
