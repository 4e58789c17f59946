"""Options that are for formats of changes, checked against the format that is chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat
from millrace.options.connector import TableOptions
from millrace.options.metadata import keys_of_value
from millrace.options.suggestions import closest
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import PluginRef, plugin_manager


def problems_of_changes(options: TableOptions, value_format: PluginRef | None, given: Collection[str]) -> Iterator[str]:
    """What is wrong, a sentence each.

    Args:
        options: The options of source and sink.
        value_format: The format of values, None where there is none or it cannot be used.
        given: The names of all options that the user has given, in lower case.
    """
    if value_format is None and options.value_format is not None:
        return  # which is told already
    if value_format is None or not issubclass(plugin_manager().load(FORMAT, value_format.name), ChangelogFormat):
        yield from _problems_without(options, given)
    elif value_format.options is not None:
        yield from _problems_with(value_format, options)


def _problems_without(options: TableOptions, given: Collection[str]) -> Iterator[str]:
    chosen = "there is no format" if options.value_format is None else f"{options.value_format!r} is none"
    if "changelog.row-kind-column" in given:
        yield f"option 'changelog.row-kind-column': it is for formats of changes, such as 'debezium-json'; {chosen}"
    for key in keys_of_value(options.metadata):
        yield (
            f"option 'metadata.columns': 'value.{key}' is what a format of changes tells, such as 'debezium-json'; "
            f"{chosen}"
        )


def _problems_with(value_format: PluginRef, options: TableOptions) -> Iterator[str]:
    if options.row_kind_column in {one.column for one in options.metadata}:
        yield (
            f"option 'metadata.columns': column {options.row_kind_column!r} has the row kinds; name the metadata "
            f"otherwise with AS, or the column of the row kinds by 'changelog.row-kind-column'"
        )
    known = value_format.create().metadata()
    for key in keys_of_value(options.metadata):
        if key not in known:
            close = closest(key, known)
            hint = f" (did you mean 'value.{close}'?)" if close else ""
            yield (
                f"option 'metadata.columns': format {value_format.name!r} tells "
                f"{', '.join(f'value.{one}' for one in known) or 'nothing'}, but not 'value.{key}'{hint}"
            )
