"""The configuration of a job as it would be used, with the origin of each value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from millrace.configuration import SinkConfig, SourceConfig
from millrace.configuration.spark_compat import translate_spark_options
from millrace.contracts import StandardOffsets
from millrace.options.field import options_of
from millrace.options.secrets import MASK, is_secret, without_secrets
from millrace.plans.parts import PlannedOption
from millrace.plugins.manager import PluginRef
from millrace.source.enumerator.start_and_stop_offsets import startup_initializer

OPTION, DEFAULT, DERIVED = "option", "default", "derived"

_CLIENT = "properties."


def resolved_options(
    config: SourceConfig | SinkConfig, raw: Mapping[str, str], origins: Mapping[str, str], *, is_stream: bool = False
) -> tuple[PlannedOption, ...]:
    """Return all options of a read or a write.

    Args:
        config: What was made of the options.
        raw: The options as the user gave them.
        origins: For options that the user gave elsewhere, such as in a file, the place.
        is_stream: Whether it is for a stream, which begins elsewhere by default.
    """
    user_options = _UserOptions(raw, origins)
    declared = dict(_declared(config, user_options))
    if isinstance(config, SourceConfig) and config.startup is None:
        default = StandardOffsets.LATEST if is_stream else StandardOffsets.EARLIEST
        detail = "from properties.group.id" if config.follows_group else f"a {'stream' if is_stream else 'batch'}"
        mode = startup_initializer(config, default).name
        declared["scan.startup.mode"] = PlannedOption("scan.startup.mode", mode, DERIVED, detail)
    plugins = (option for reference in _plugins(config) for option in _plugin_options(reference, user_options))
    return (*declared.values(), *plugins, *_client_options(config, user_options))


class _UserOptions:
    """The options that the user gave, by names in any case."""

    def __init__(self, raw: Mapping[str, str], origins: Mapping[str, str]) -> None:
        self._origins = {name.lower(): place for name, place in origins.items()}
        self._spark_names = {
            name.lower(): spark for name, spark in translate_spark_options(dict(raw)).spark_names.items()
        }
        self._names = {name.lower(): name for name in raw}
        self.values = {str(value) for value in raw.values()}

    def origin(self, names: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the origin of an option by its names, with a detail; None when it is not given."""
        for name in names:
            as_given = self._names.get(name.lower()) or self._spark_names.get(name.lower())
            if as_given is not None:
                place = self._origins.get(as_given.lower(), OPTION)
                return place, "" if as_given.lower() == names[0].lower() else f"as {as_given}"
        return None


def _declared(config: SourceConfig | SinkConfig, user_options: _UserOptions) -> Iterator[tuple[str, PlannedOption]]:
    defaults = {field.name: field.default for field in dataclasses.fields(config.options)}
    shown = {field.name: field.repr for field in dataclasses.fields(config.options)}
    for field, info in options_of(type(config.options)).items():
        value = getattr(config.options, field)
        origin, detail = user_options.origin((info.name, *info.aliases)) or (
            (DEFAULT, "") if value == defaults[field] else (DERIVED, "")
        )
        is_hidden = (is_secret(info.name) or not shown[field]) and bool(value)
        yield info.name, PlannedOption(info.name, MASK if is_hidden else _text(value), origin, detail)


def _plugins(config: SourceConfig | SinkConfig) -> Iterator[PluginRef]:
    values = (getattr(config, field.name) for field in dataclasses.fields(config))
    # Key and value may have one format
    yield from dict.fromkeys(value for value in values if isinstance(value, PluginRef) and value.options is not None)


def _plugin_options(reference: PluginRef, user_options: _UserOptions) -> Iterator[PlannedOption]:
    """Yield the options of a plugin that are not its defaults: it has many, of which few matter."""
    options = reference.options
    if not dataclasses.is_dataclass(options):
        return
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for field, info in options_of(type(options)).items():
        value = getattr(options, field)
        if value == defaults[field]:
            continue
        prefixes = (f"{reference.name}.", f"value.{reference.name}.", f"key.{reference.name}.", "")
        user_origin = user_options.origin(tuple(f"{prefix}{info.name}" for prefix in prefixes))
        origin = OPTION if user_origin is None else user_origin[0]
        is_hidden = is_secret(info.name) or not _is_shown(options, field)
        name = f"{reference.name}.{info.name}" if "." not in info.name else info.name
        yield PlannedOption(name, MASK if is_hidden else _text(value), origin, f"of {reference.kind}")


def _is_shown(options: Any, name: str) -> bool:
    return next(field.repr for field in dataclasses.fields(options) if field.name == name)


def _client_options(config: SourceConfig | SinkConfig, user_options: _UserOptions) -> Iterator[PlannedOption]:
    for name, value in sorted(config.client.items()):
        full = f"{_CLIENT}{name}"
        user_origin = user_options.origin((full, f"kafka.{name}"))
        text = MASK if is_secret(name) else _text(value)
        if user_origin is not None:
            yield PlannedOption(full, text, *user_origin)
        else:
            origin = (
                (DERIVED, "from another property") if str(value) in user_options.values else (DERIVED, "by millrace")
            )
            yield PlannedOption(full, text, *origin)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list | frozenset | set):
        return ";".join(_text(getattr(part, "ddl", part)) for part in value)
    return without_secrets(str(value))
