"""Write definitions as YAML; `millrace_cdc.read_pipeline` makes the same definition of it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from millrace.options import options_of
from millrace_cdc.definitions.functions import FUNCTIONS
from millrace_cdc.definitions.model import PipelineDefinition, SinkDefinition, SourceDefinition

_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


def render_pipeline(definition: PipelineDefinition) -> str:
    """Return the YAML of a definition.

    Values are written as they are, secrets included. What the defaults say is left out.
    """
    import yaml

    sections = {
        "source": _end(definition.source),
        "sink": _end(definition.sink),
        "route": [dict(_options(rule)) for rule in definition.routes],
        "transform": [dict(_options(rule)) for rule in definition.transforms],
        "pipeline": dict(_options(definition.options)) | _functions(definition),
    }
    content = {name: section for name, section in sections.items() if section}
    text = str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    # PyYAML writes these characters as they are, and reads them as ends of lines
    return str(yaml.safe_dump(content, sort_keys=False)) if _LINE_ENDS.search(text) else text


def _end(end: SourceDefinition | SinkDefinition) -> dict[str, Any]:
    keys: dict[str, Any] = {"type": end.type}
    if end.name is not None:
        keys["name"] = end.name
    if isinstance(end, SinkDefinition):
        if end.include:
            keys["include.schema.changes"] = list(end.include)
        if end.exclude is not None:
            keys["exclude.schema.changes"] = list(end.exclude)
        keys |= dict(_options(end.retries))
    return keys | dict(end.options)


def _functions(definition: PipelineDefinition) -> dict[str, Any]:
    return {FUNCTIONS: [dict(_options(function)) for function in definition.functions]} if definition.functions else {}


def _options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the options that are not their defaults, as texts."""
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for field, info in options_of(type(options)).items():
        value = getattr(options, field)
        if value == defaults[field]:
            continue
        if info.takes_all:
            yield from ((info.name.removesuffix("*") + name, text) for name, text in value)
        else:
            yield info.name, _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join("=".join(part) if isinstance(part, tuple) else part for part in value)
    return str(value)
