"""Validate options of changelog formats against the format that is chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat
from millrace.options.metadata import format_metadata_keys
from millrace.options.shared import TableOptions
from millrace.options.suggestions import closest
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import PluginRef, plugin_manager


def changelog_problems(
    options: TableOptions, value_format: PluginRef | None, user_options: Collection[str]
) -> Iterator[str]:
    """Yield one sentence for each option that the format of values cannot serve.

    Args:
        options: The options of source and sink.
        value_format: The format of values, None where there is none or it cannot be used.
        user_options: The names of all options that the user has given, in lower case.
    """
    if value_format is None and options.value_format is not None:
        return  # the unusable format is a problem of its own
    if value_format is None or not issubclass(plugin_manager().load(FORMAT, value_format.name), ChangelogFormat):
        yield from _problems_without_changelog_format(options, user_options)
    elif value_format.options is not None:
        yield from _problems_with_changelog_format(value_format, options)


def _problems_without_changelog_format(options: TableOptions, user_options: Collection[str]) -> Iterator[str]:
    chosen = "there is no format" if options.value_format is None else f"{options.value_format!r} is none"
    if options.is_upsert:
        yield from _row_kind_column_problems(options)
    elif "changelog.row-kind-column" in user_options:
        yield f"option 'changelog.row-kind-column' requires a changelog format, such as 'debezium-json'; {chosen}"
    for key in format_metadata_keys(options.metadata):
        yield (
            f"option 'metadata.columns': 'value.{key}' requires a changelog format, such as 'debezium-json'; {chosen}"
        )


def _row_kind_column_problems(options: TableOptions) -> Iterator[str]:
    if options.row_kind_column in {one.column for one in options.metadata}:
        yield (
            f"option 'metadata.columns': column {options.row_kind_column!r} holds the row kinds; rename the metadata "
            f"column with AS, or the column of row kinds with 'changelog.row-kind-column'"
        )


def _problems_with_changelog_format(value_format: PluginRef, options: TableOptions) -> Iterator[str]:
    yield from _row_kind_column_problems(options)
    keys = value_format.create().metadata()
    for key in format_metadata_keys(options.metadata):
        if key not in keys:
            close = closest(key, keys)
            hint = f" (did you mean 'value.{close}'?)" if close else ""
            yield (
                f"option 'metadata.columns': format {value_format.name!r} has no metadata 'value.{key}'{hint}; it has "
                f"{', '.join(f'value.{known}' for known in keys) or 'none'}"
            )
