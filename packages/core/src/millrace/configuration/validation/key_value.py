"""Validate the options of keys and values against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat
from millrace.errors import PluginError
from millrace.options.shared import TableOptions
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import plugin_manager

_KEY_FORMATS = {"debezium-avro-confluent": "avro-confluent"}
"""The formats of keys beside changelog formats; json beside most."""


def key_value_problems(options: TableOptions, user_options: Collection[str]) -> Iterator[str]:
    """Yield one sentence for each option of keys and values that lacks another one or contradicts it.

    Args:
        options: The options of source or sink.
        user_options: The names of all options that the user has given, in lower case.
    """
    if options.key_format is None:
        for name in ("key.fields", "key.fields-prefix", "value.fields-include"):
            if name in user_options:
                yield f"option {name!r} requires 'key.format'"
    else:
        yield from _key_problems(options)
    if options.value_format is None:
        for name in ("key.format", "value.fields-prefix", "columns"):
            if name in user_options:
                yield f"option {name!r} requires 'value.format'"
    yield from _prefix_problems(options)


def _key_problems(options: TableOptions) -> Iterator[str]:
    if not options.key_fields:
        yield "option 'key.format' requires 'key.fields', the columns of the key, such as 'id;country'"
    for name in options.key_fields:
        if not name.startswith(options.key_prefix) or name == options.key_prefix:
            yield f"option 'key.fields': {name!r} does not begin with {options.key_prefix!r} ('key.fields-prefix')"
        if name in {one.column for one in options.metadata}:
            yield f"option 'key.fields': {name!r} is a metadata column ('metadata.columns'), not a column of the key"
    try:
        is_changelog = issubclass(plugin_manager().load(FORMAT, str(options.key_format)), ChangelogFormat)
    except PluginError:
        return  # the unusable format is a problem of its own
    if is_changelog:
        yield (
            f"option 'key.format': {options.key_format!r} is a changelog format, which keys cannot have, since a key "
            f"does not change: use {_KEY_FORMATS.get(str(options.key_format), 'json')!r}"
        )


def _prefix_problems(options: TableOptions) -> Iterator[str]:
    if options.key_format is not None and not options.leaves_key_out:
        for name, prefix in {"key": options.key_prefix, "value": options.value_prefix}.items():
            if prefix:
                yield (
                    f"option '{name}.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY'; with ALL the "
                    f"columns of the key are columns of the value as well, under one name"
                )
    key, value = options.key_prefix, options.value_prefix
    if key and value and (key.startswith(value) or value.startswith(key)):
        yield (
            f"options 'key.fields-prefix' and 'value.fields-prefix': {key!r} and {value!r} cannot be told apart, since "
            f"one begins with the other"
        )
