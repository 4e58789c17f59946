"""Options of keys and values, checked against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat
from millrace.errors import PluginError
from millrace.options.connector import TableOptions
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import plugin_manager


def problems_of_parts(options: TableOptions, given: Collection[str]) -> Iterator[str]:
    """What is wrong with the options of keys and values, a sentence each.

    Args:
        options: The options of source or sink.
        given: The names of all options that the user has given, in lower case.
    """
    if options.key_format is None:
        for name in ("key.fields", "key.fields-prefix", "value.fields-include"):
            if name in given:
                yield f"option {name!r}: there is no format of keys; give 'key.format'"
    else:
        yield from _problems_of_key(options)
    if options.value_format is None:
        for name in ("key.format", "value.fields-prefix"):
            if name in given:
                yield f"option {name!r}: there is no format of values; give 'value.format'"
    yield from _problems_of_prefixes(options)


def _problems_of_key(options: TableOptions) -> Iterator[str]:
    if not options.key_fields:
        yield "option 'key.format': it needs 'key.fields', the columns of the key, such as 'id;country'"
    for name in options.key_fields:
        if not name.startswith(options.key_prefix) or name == options.key_prefix:
            yield f"option 'key.fields': {name!r} does not begin with {options.key_prefix!r} ('key.fields-prefix')"
        if name in {one.column for one in options.metadata}:
            yield f"option 'key.fields': {name!r} is metadata, by option 'metadata.columns', and no part of the key"
    try:
        is_of_changes = issubclass(plugin_manager().load(FORMAT, str(options.key_format)), ChangelogFormat)
    except PluginError:
        return  # which is told already
    if is_of_changes:
        yield f"option 'key.format': {options.key_format!r} is a format of changes, and a key is none; give another one"


def _problems_of_prefixes(options: TableOptions) -> Iterator[str]:
    if options.key_format is not None and not options.leaves_key_out:
        for name, prefix in {"key": options.key_prefix, "value": options.value_prefix}.items():
            if prefix:
                yield (
                    f"option '{name}.fields-prefix': it is for 'value.fields-include' = 'EXCEPT_KEY'; with ALL the "
                    f"columns of the key are part of the value as well, under one name"
                )
    key, value = options.key_prefix, options.value_prefix
    if key and value and (key.startswith(value) or value.startswith(key)):
        yield (
            f"options 'key.fields-prefix' and 'value.fields-prefix': {key!r} and {value!r} are not told apart, since "
            f"one begins with the other"
        )
