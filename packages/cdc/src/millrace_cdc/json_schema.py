"""The JSON Schema of pipelines' files, by which editors complete and check them."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, get_args, get_origin, get_type_hints

from millrace.contracts import SCHEMA_CHANGES
from millrace.options import options_of
from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace.plugins.kinds import Kind
from millrace_cdc.definitions.functions import FUNCTIONS, FunctionDefinition
from millrace_cdc.definitions.pipeline_options import PipelineOptions
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.definitions.sink_retries import SinkRetryOptions

_REFERENCE = {"type": "string", "pattern": r"\$\{[^{}]*\}"}
_TEXT = {"type": ["string", "number", "boolean"]}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a pipeline's file, with the sources and sinks that are installed."""
    sink_keys = {
        f"{word}.schema.changes": {
            "description": f"Schema changes to {word}: {', '.join(SCHEMA_CHANGES[:2])} and others, or words of them.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        }
        for word in ("include", "exclude")
    } | _options(SinkRetryOptions)["properties"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Change-data pipeline",
        "type": "object",
        "required": ["source", "sink"],
        "additionalProperties": False,
        "properties": {
            "source": _end(PIPELINE_SOURCE, {}),
            "sink": _end(PIPELINE_SINK, sink_keys),
            "route": {"type": ["array", "null"], "items": _options(RouteRule)},
            "transform": {"type": ["array", "null"], "items": _options(TransformRule)},
            "pipeline": _pipeline(),
        },
    }


def _end(kind: Kind[Any], keys: dict[str, Any]) -> dict[str, Any]:
    manager = plugin_manager()
    names = manager.names(kind)
    common = {"name": {"description": "A name for people.", **_TEXT}, **keys}
    choices = [
        _options(manager.load(kind, name).Options, {"type": {"const": name}, **common}, required=["type"])
        for name in names
    ]
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"description": f"The {kind.name}.", "enum": names}},
        "oneOf": choices,
    }


def _pipeline() -> dict[str, Any]:
    schema = _options(PipelineOptions)
    schema["type"] = ["object", "null"]
    schema["properties"][FUNCTIONS] = {"type": ["array", "null"], "items": _function()}
    schema["properties"]["dirty-data.collector"] = {
        "anyOf": [{"type": "string"}, {"type": "object", "required": ["type"], "properties": {"type": _TEXT}}]
    }
    return schema


def _function() -> dict[str, Any]:
    schema = _options(FunctionDefinition)
    schema["properties"]["options"] = {"type": "object", "additionalProperties": _TEXT}
    return schema


def _options(cls: type, more: dict[str, Any] | None = None, required: list[str] | None = None) -> dict[str, Any]:
    hints = get_type_hints(cls)
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    properties: dict[str, Any] = dict(more or {})
    patterns: dict[str, Any] = {}
    needed = list(required or [])
    for field, info in options_of(cls).items():
        if info.takes_all:
            patterns["^" + info.name.removesuffix("*").replace(".", r"\.")] = {"description": info.doc, **_TEXT}
            continue
        default = defaults[field]
        schema = {"description": info.doc, **_values(hints[field])}
        if default is dataclasses.MISSING:
            needed.append(info.name)
        elif isinstance(default, str | int) and info.parse is None:
            schema["default"] = default
        properties |= dict.fromkeys((info.name, *info.aliases), schema)
    base = {"type": "object", "properties": properties, "additionalProperties": False}
    return base | ({"patternProperties": patterns} if patterns else {}) | ({"required": needed} if needed else {})


def _values(hint: Any) -> dict[str, Any]:
    """Return the schema of the values of a type; any may be a reference such as ``${name}``."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    simple = kinds[0] if kinds and get_origin(hint) is not Literal else hint
    if get_origin(simple) is Literal:
        # Case does not matter, which a list of values cannot say
        choices = sorted({form for choice in get_args(simple) for form in (choice, choice.lower(), choice.upper())})
        return {"anyOf": [{"enum": choices}, _REFERENCE]}
    if simple is bool:
        return {"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}, _REFERENCE]}
    if simple is int:
        return {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?\d+$|\$\{"}]}
    return _TEXT
