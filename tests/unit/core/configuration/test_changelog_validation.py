"""Options that are for formats of changes."""

from __future__ import annotations

import pytest

from millrace.configuration.build import configure
from millrace.errors import OptionsError


def problems(**options: str) -> tuple[str, ...]:
    given = {"properties.bootstrap.servers": "h:1"}
    with pytest.raises(OptionsError) as error:
        configure({**given, **{name.replace("_", "."): value for name, value in options.items()}})
    return error.value.problems


def test_metadata_that_the_format_tells_is_accepted() -> None:
    metadata = "value.source.table AS t, offset, value.ingestion-timestamp AS at"
    config = configure({"properties.bootstrap.servers": "h:1", "format": "debezium-json", "metadata.columns": metadata})
    assert [one.of_value for one in config.source.options.metadata] == ["source.table", None, "ingestion-timestamp"]


def test_metadata_that_it_does_not_tell_is_refused_with_what_it_tells() -> None:
    told = (
        "option 'metadata.columns': format 'maxwell-json' tells value.database, value.table, "
        "value.primary-key-columns, value.ingestion-timestamp, but not "
    )
    assert problems(format="maxwell-json", metadata_columns="value.tabel AS t, value.op, value.table AS a") == (
        told + "'value.tabel' (did you mean 'value.table'?)",
        told + "'value.op'",
    )


@pytest.mark.parametrize(("options", "why"), [({"format": "json"}, "'json' is none"), ({}, "there is no format")])
def test_both_are_refused_without_a_format_of_changes(options: dict[str, str], why: str) -> None:
    assert problems(**options, **{"changelog.row-kind-column": "row_kind"}, metadata_columns="value.table AS t") == (
        f"option 'changelog.row-kind-column': it is for formats of changes, such as 'debezium-json'; {why}",
        f"option 'metadata.columns': 'value.table' is what a format of changes tells, such as 'debezium-json'; {why}",
    )


def test_metadata_does_not_take_the_column_of_the_row_kinds() -> None:
    assert problems(format="ogg-json", metadata_columns="offset AS row_kind") == (
        "option 'metadata.columns': column 'row_kind' has the row kinds; name the metadata otherwise with AS, or the "
        "column of the row kinds by 'changelog.row-kind-column'",
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
        "unknown option 'canal-json.x'; it is for format 'canal-json', which is not the one that is chosen, or which "
        "has no such option",
    ]
