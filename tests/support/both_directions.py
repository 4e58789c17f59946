"""One set of options, configured for reads and for writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from millrace.configuration import SinkConfig, SourceConfig
from millrace.configuration.build import configure_sink, configure_source
from millrace.errors import OptionsError


class Configured(NamedTuple):
    """The configurations of a read and a write that one set of options gives."""

    source: SourceConfig
    sink: SinkConfig


def configure(raw: Mapping[str, str]) -> Configured:
    """Configure both directions; the problems of both are in one OptionsError."""
    problems: dict[str, None] = {}
    configs = [_try(each, raw, problems) for each in (configure_source, configure_sink)]
    if problems:
        raise OptionsError("millrace", tuple(problems))
    return Configured(*configs)


def _try(configure_one: Callable[[Mapping[str, str]], Any], raw: Mapping[str, str], problems: dict[str, None]) -> Any:
    try:
        return configure_one(raw)
    except OptionsError as error:
        problems.update(dict.fromkeys(error.problems))
