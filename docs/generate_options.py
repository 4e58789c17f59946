"""Write what follows from declarations, so that it cannot drift: pages, pictures, packages of plugins."""

from __future__ import annotations

import dataclasses
import re
import sys
import textwrap
import typing
from pathlib import Path

from docs import (
    generate_client_properties,
    generate_own_packages,
    generate_pictures,
    generate_pipeline_options,
    generate_recording,
    generate_typed_options,
)

from millrace.options import OptionInfo, options_of
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.shared import TableOptions
from millrace.plugins import (
    CATALOG,
    DEAD_LETTER_COLLECTOR,
    FORMAT,
    HEADER_FILTER,
    KINDS,
    OFFSET_INITIALIZER,
    PARTITIONER,
    SCHEMA_INFERENCE,
    STATE_BACKEND,
    TABLE_FACTORY,
    TOKEN_PROVIDER,
    plugin_manager,
)
from millrace_sql.connectors.datagen.options import FieldOptions

PAGE = Path(__file__).with_name("options.md")

HEAD = """# Options

Generated from the options' declarations by `tox -e docs`.

Names, defaults and values come from the [reference](reference-parity.md), Flink's Kafka connectors. Names are not
case-sensitive. Source and sink accept the same set of options: each uses its own, and both check all. An unknown option
is an error.

`millrace.typed_options` has a type for the options of each format and side, such as `JsonSourceOptions`, so that
editors complete options and type checkers find unknown ones: declare `orders: JsonSourceOptions = {"topic": "orders"}`,
and pass it as `.options(**orders)`.
"""

PROVIDER = (
    "Token provider for SASL/OAUTHBEARER: `aws-msk-iam`, `azure`, `google`, or a class as `module:Class` (an addition)."
)
CLIENT = (
    ("bootstrap.servers", "required", "Kafka brokers to ask first, as `host:port,host:port`."),
    ("group.id", "", "The consumer group to start from, and to follow the query, for monitoring."),
    ("sasl.oauthbearer.provider", "", PROVIDER),
    ("*", "", "Any [property of the Kafka client](client-properties.md), Java's or librdkafka's."),
)

PREFIXES = {
    FORMAT: ("{name}.",),
    PARTITIONER: ("sink.partitioner.",),
    OFFSET_INITIALIZER: ("scan.startup.", "scan.bounded."),
    HEADER_FILTER: ("",),
    SCHEMA_INFERENCE: ("{name}.",),
    CATALOG: ("",),
    TOKEN_PROVIDER: ("properties.sasl.oauthbearer.provider.",),
    DEAD_LETTER_COLLECTOR: ("dirty-data.collector.",),
    STATE_BACKEND: ("state.backend.",),
}


def main() -> None:
    """Write the generated files, or with --check fail when one is not up to date."""
    pages = {
        PAGE: render(),
        generate_client_properties.PAGE: generate_client_properties.render(),
        generate_pipeline_options.PAGE: generate_pipeline_options.render(section),
        generate_own_packages.PAGE: generate_own_packages.render(),
        generate_typed_options.PAGE: generate_typed_options.render(),
        generate_recording.PAGE: generate_recording.render(),
        **generate_pictures.render(),
    }
    for path, text in pages.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.name} is not what the declarations say; run: tox -e docs")


def render() -> str:
    """Return the page's text."""
    shared = options_of(TableOptions)
    sections = [
        HEAD,
        "## Kafka client\n",
        *(described(f"`properties.{name}`", ["string", needed], text) for name, needed, text in CLIENT),
        section("Source and sink", TableOptions),
        section("Source", SourceOptions, leave_out=shared.keys()),
        section("Sink", SinkOptions, leave_out=shared.keys()),
        *plugin_sections(),
        *connector_sections(),
    ]
    return without_repeats("\n".join(sections))


def without_repeats(page: str) -> str:
    """Replace a text that an earlier option of this name has, too, by a link to that option."""
    first: dict[tuple[str, str], str] = {}

    def shorten(option: re.Match[str]) -> str:
        heading, name, suffix, facts, text = option.groups()
        earlier = first.setdefault((suffix, text), name)
        if earlier == name or len(text.split()) < 10:
            return option[0]
        return f"{heading}{facts}Same as [`{earlier}`](#{slug(earlier)}).\n"

    return re.sub(r"(### `(\w[\w-]*\.([^`]+))`\n\n)((?:.+\n)?\n)((?:.+\n)+)", shorten, page)


def slug(heading: str) -> str:
    """Return the address of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plugin_sections() -> list[str]:
    """Return a section for each standard plugin that has options."""
    manager = plugin_manager()
    sections = []
    for kind in KINDS:
        for name in manager.names(kind) if kind in PREFIXES else ():
            entry = manager.find(kind, name)
            options = manager.load(kind, name).Options
            if entry.distribution.startswith("millrace-") and options_of(options):
                prefixes = tuple(prefix.format(name=name) for prefix in PREFIXES[kind])
                sections.append(section(f"{kind.name.capitalize()} `{name}`", options, prefixes=prefixes))
    return sections


def connector_sections() -> list[str]:
    """Return a section for each connector of SQL's tables that has options of its own."""
    manager = plugin_manager()
    sections = []
    for name in manager.names(TABLE_FACTORY):
        options = manager.load(TABLE_FACTORY, name).TableOptions
        if manager.find(TABLE_FACTORY, name).distribution.startswith("millrace-") and options_of(options):
            sections.append(section(f"Connector `{name}`", options))
    return [*sections, section("Fields of connector `datagen`", FieldOptions, prefixes=("fields.<field>.",))]


def section(title: str, cls: type, *, prefixes: tuple[str, ...] = ("",), leave_out: typing.Collection[str] = ()) -> str:
    """Describe a dataclass's options, each under a heading of its own that one can link to."""
    hints = typing.get_type_hints(cls)
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    entries = [
        entry(prefixes, info, hints[field], defaults[field])
        for field, info in options_of(cls).items()
        if field not in leave_out
    ]
    return "\n".join([f"## {title}", "", *entries])


def entry(prefixes: tuple[str, ...], info: OptionInfo, hint: object, default: object) -> str:
    """Describe one option."""
    name, *others = [f"`{prefix}{name}`" for prefix in prefixes for name in (info.name, *info.aliases)]
    facts = [type_text(hint, info), default_text(default), f"also {', '.join(others)}" if others else ""]
    return described(name, facts, escaped(info.doc))


def described(name: str, facts: list[str], text: str) -> str:
    """Return a heading, facts in one line, and a text."""
    return "\n".join(
        [
            f"### {name}",
            "",
            ", ".join(filter(None, facts)),
            "",
            *textwrap.wrap(text, 120, break_on_hyphens=False, break_long_words=False),
            "",
        ]
    )


def escaped(text: str) -> str:
    """Return a plain text as Markdown."""
    return re.sub(r"([\\`*_<\[])", r"\\\1", text)


def type_text(hint: object, info: OptionInfo) -> str:
    """Name a type for people."""
    if info.parse is not None:
        return info.parse.__name__.removeprefix("parse_").removesuffix("_ms").replace("_", " ")
    choices = [arg for arg in typing.get_args(hint) if arg is not type(None)]
    if typing.get_origin(hint) is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in choices)
    simple = choices[0] if choices else hint
    return {bool: "boolean", int: "integer", float: "number", str: "string"}.get(simple, "string")


def default_text(default: object) -> str:
    """Format a default as a user would write it."""
    if default is dataclasses.MISSING:
        return "required"
    if default is None or default in ((), ""):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}` by default"


if __name__ == "__main__":
    main()
