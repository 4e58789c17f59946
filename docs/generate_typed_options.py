"""Write the types of options that editors complete and type checkers check, from the options' declarations."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from millrace.kafka.java_properties import JAVA_PROPERTIES, Ignored
from millrace.options import OptionInfo, options_of
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.plugins import (
    DEAD_LETTER_COLLECTOR,
    FORMAT,
    HEADER_FILTER,
    OFFSET_INITIALIZER,
    PARTITIONER,
    SCHEMA_INFERENCE,
    STATE_BACKEND,
    TOKEN_PROVIDER,
    plugin_manager,
)
from millrace.plugins.kinds import Kind

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "packages/core/src/millrace/typed_options.py"

_NAMES = ROOT / "tests/support/java_properties.json"
_WIDTH = 120

_HEAD = '''"""Types of the data source's options, for editors and type checkers.

Generated from the options' declarations by ``tox -e docs``. There is a type for each format of a read and a write, and
one for those without a format or with one of another package::

    from millrace.typed_options import JsonSourceOptions

    orders: JsonSourceOptions = {"topic": "orders", "format": "json", "scan.startup.mode": "earliest-offset"}
    spark.readStream.format("millrace").options(**orders)

An option that a type lacks, such as one of librdkafka's own properties, is given by ``.option(name, value)``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import TypedDict

Boolean: TypeAlias = bool | Literal["true", "false"]
Integer: TypeAlias = int | str
Value: TypeAlias = str | float | bool
'''

Names = Mapping[str, str]
"""The types of options by name, as Python writes them."""


def render() -> str:
    """Return the module's text."""
    token = _plugins(TOKEN_PROVIDER, "properties.sasl.oauthbearer.provider.")
    source = {
        **_declared(SourceOptions),
        **_plugins(OFFSET_INITIALIZER, "scan.startup.", "scan.bounded."),
        **_plugins(HEADER_FILTER, ""),
        **_plugins(DEAD_LETTER_COLLECTOR, "dirty-data.collector."),
        **_plugins(STATE_BACKEND, "state.backend."),
        **token,
    }
    source = {**_client("consumer"), **source}
    sink = {**_client("producer"), **_declared(SinkOptions), **_plugins(PARTITIONER, "sink.partitioner."), **token}
    shared = dict(source.items() & sink.items())
    return "\n".join(
        [
            _HEAD,
            _dict("_Both", shared),
            _dict("_Source", {name: text for name, text in source.items() if name not in shared}),
            _dict("_Sink", {name: text for name, text in sink.items() if name not in shared}),
            *(_dict(f"_{_camel(name)}", options) for name, options in _formats().items()),
            *_class("PlainSourceOptions", "_Both, _Source", "Options of a read, without those of a format."),
            *_class("PlainSinkOptions", "_Both, _Sink", "Options of a write, without those of a format."),
            *(line for name in _formats() for line in _of_format(name)),
            "",
        ]
    )


def _of_format(name: str) -> Iterator[str]:
    for side, action in (("Source", "read"), ("Sink", "write")):
        bases = f"_Both, _{side}, _{_camel(name)}"
        yield from _class(f"{_camel(name)}{side}Options", bases, f"Options of a {action} of {name}.")


def _formats() -> dict[str, Names]:
    manager = plugin_manager()
    inferring = set(manager.names(SCHEMA_INFERENCE))
    formats = {}
    for name in manager.names(FORMAT):
        # Others are chosen by a package's own programs, such as the catalog's
        if manager.find(FORMAT, name).distribution == "millrace-formats":
            classes = [manager.load(FORMAT, name).Options]
            if name in inferring:
                classes.append(manager.load(SCHEMA_INFERENCE, name).Options)
            formats[name] = {key: text for cls in classes for key, text in _declared(cls, f"{name}.").items()}
    return formats


def _plugins(kind: Kind, *prefixes: str) -> Names:
    manager = plugin_manager()
    classes = [
        manager.load(kind, name).Options
        for name in manager.names(kind)
        if manager.find(kind, name).distribution.startswith("millrace-")
    ]
    return {key: text for cls in classes for prefix in prefixes for key, text in _declared(cls, prefix).items()}


def _client(client: str) -> Names:
    """Return the properties of one of Java's clients that have an effect."""
    known = json.loads(_NAMES.read_text())
    names = (name for name, handling in JAVA_PROPERTIES.items() if not isinstance(handling, Ignored))
    of_client = {f"properties.{name}": "Value" for name in names if client in known.get(name, ())}
    return {"properties.bootstrap.servers": "str", "properties.sasl.oauthbearer.provider": "str"} | of_client


def _declared(cls: type, prefix: str = "") -> Names:
    hints = typing.get_type_hints(cls)
    return {
        f"{prefix}{name}": _type(hints[field], info)
        for field, info in options_of(cls).items()
        if not info.takes_all
        for name in (info.name, *info.aliases)
        if name not in info.deprecated
    }


def _type(hint: object, info: OptionInfo) -> str:
    if info.parse is not None:
        return "Integer" if info.parse.__name__.endswith("_ms") else "str"
    choices = [argument for argument in typing.get_args(hint) if argument is not type(None)]
    if typing.get_origin(hint) is typing.Literal:
        return f"Literal[{', '.join(map(_quoted, choices))}]"
    simple = choices[0] if choices else hint
    if typing.get_origin(simple) is typing.Literal:
        return _type(simple, info)
    return {bool: "Boolean", int: "Integer", float: "Value"}.get(typing.cast(type, simple), "str")


def _dict(name: str, options: Names) -> str:
    lines = [line for key, text in sorted(options.items()) for line in _entry(key, text)]
    if not lines:
        return f"{name} = TypedDict({_quoted(name)}, {{}}, total=False)"
    body = "\n".join(f"        {line}" for line in lines)
    return f"{name} = TypedDict(\n    {_quoted(name)},\n    {{\n{body}\n    }},\n    total=False,\n)"


def _entry(key: str, text: str) -> Iterable[str]:
    line = f"{_quoted(key)}: {text},"
    if len(line) + 8 <= _WIDTH or not text.startswith("Literal["):
        return [line]
    choices = text.removeprefix("Literal[").removesuffix("]").split(", ")
    return [f"{_quoted(key)}: Literal[", *(f"    {choice}," for choice in choices), "],"]


def _class(name: str, bases: str, doc: str) -> list[str]:
    return ["", "", f"class {name}({bases}, closed=True):", f'    """{doc}"""']


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _quoted(text: object) -> str:
    return json.dumps(str(text))
