"""Options that are for formats of changes."""

from __future__ import annotations

import pytest

from millrace.configuration.build import configure_source
from millrace.errors import OptionsError


def problems(**options: str) -> tuple[str, ...]:
    given = {"properties.bootstrap.servers": "h:1"}
    with pytest.raises(OptionsError) as error:
        configure_source({**given, **{name.replace("_", "."): value for name, value in options.items()}})
    return error.value.problems


def test_metadata_that_the_format_tells_is_accepted() -> None:
    metadata = "value.source.table AS t, offset, value.ingestion-timestamp AS at"
    config = configure_source(
        {"properties.bootstrap.servers": "h:1", "format": "debezium-json", "metadata.columns": metadata}
    )
    assert [one.format_key for one in config.options.metadata] == ["source.table", None, "ingestion-timestamp"]


def test_metadata_that_it_does_not_tell_is_refused_with_what_it_tells() -> None:
    keys = "it has value.database, value.table, value.primary-key-columns, value.ingestion-timestamp"
    beginning = "option 'metadata.columns': format 'maxwell-json' has no metadata "
    assert problems(format="maxwell-json", metadata_columns="value.tabel AS t, value.op, value.table AS a") == (
        beginning + "'value.tabel' (did you mean 'value.table'?); " + keys,
        beginning + "'value.op'; " + keys,
    )


@pytest.mark.parametrize(("options", "why"), [({"format": "json"}, "'json' is none"), ({}, "there is no format")])
def test_both_are_refused_without_a_format_of_changes(options: dict[str, str], why: str) -> None:
    assert problems(**options, **{"changelog.row-kind-column": "row_kind"}, metadata_columns="value.table AS t") == (
        f"option 'changelog.row-kind-column' requires a changelog format, such as 'debezium-json'; {why}",
        f"option 'metadata.columns': 'value.table' requires a changelog format, such as 'debezium-json'; {why}",
    )


def test_metadata_does_not_take_the_column_of_the_row_kinds() -> None:
    assert problems(format="ogg-json", metadata_columns="offset AS row_kind") == (
        "option 'metadata.columns': column 'row_kind' holds the row kinds; rename the metadata column with AS, "
        "or the column of row kinds with 'changelog.row-kind-column'",
    )


def test_a_format_that_does_not_exist_is_the_only_problem() -> None:
    (problem,) = problems(format="debezium-jso", metadata_columns="value.table")
    assert problem.startswith("option 'value.format': unknown format 'debezium-jso'")


def test_wrong_options_of_the_format_are_told_too() -> None:
    found = problems(
        format="canal-json", metadata_columns="value.tables", **{"canal-json.table.include": "a(", "canal-json.x": "1"}
    )
    assert [problem.split(":")[0] for problem in found] == [
        "option 'canal-json.table.include'",
        "option 'metadata.columns'",
        "unknown option 'canal-json.x'; format 'canal-json' is not chosen, or has no such option",
    ]
