"""The options by which a table is read whose columns follow its messages."""

from __future__ import annotations

import pytest

from millrace.configuration.build import configure_source
from millrace.errors import OptionsError
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace_catalog.evolution.evolving_read import evolving_read, layout_of
from millrace_catalog.evolution.evolving_table import EvolvingTable
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_catalog.types.model import STRING
from unit.catalog.tables.test_table import table


def evolving(options: dict[str, str], key: bytes | None) -> tuple[EvolvingTable, Schema, dict[str, str]]:
    """A table, the columns of its read and the options of that."""
    found = table(options, key)
    keys = found.table_schema.names_of("key")
    made = EvolvingTable.create(
        layout_of(found), found.columns_schema, found.primary_key, keys, key_is_json=found.table_schema.key_is_json
    )
    read = evolving_read("orders", found.config, made, {"JSON.Fail-On-Missing-Field": "true", "scan.parallelism": "3"})
    key_probe = () if read.key_probe is None else (Column(read.key_probe, STRING),)
    return made, Schema((*made.schema.columns, *key_probe)), read.options


@pytest.mark.parametrize("key", [None, b'{"id": 1, "s": {"a": 2}}', b"no json"], ids=["none", "json", "bytes"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"json.infer-schema.nested": "flatten", "json.timestamp-format.standard": "ISO-8601"},
        {"json.infer-schema.nested": "struct", "value.fields-prefix": "v_", "json.infer-schema.fixed-types": "id INT"},
        {"key.fields-prefix": "", "value.fields-prefix": "v_", "json.infer-schema.primitive-as-string": "true"},
        {"json.infer-schema.flatten-nested-columns.enable": "true", "schema.inference.strategy": "static"},
    ],
    ids=str,
)
def test_the_data_source_reads_it_by_its_options(options: dict[str, str], key: bytes | None) -> None:
    made, columns, read = evolving(options, key)
    source = configure_source(read)
    record_batch_builder_for(source, to_arrow_schema(columns))

    assert source.value_format is not None
    is_static = "schema.inference.strategy" in options
    assert source.value_format.name == ("json" if is_static else "json-evolving")
    assert source.options.parallelism == 3
    if is_static:
        assert (source.key_format is None) == (key is None)
        return
    assert Schema(source.value_format.options.columns) == made.value_fields()
    assert source.value_format.options.parsed.format.fail_on_missing_field
    assert source.key_format is not None
    assert source.key_format.name == ("raw" if key == b"no json" else "json-evolving")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"Format": "csv"}, "option 'Format': the table sets it; leave it out"),
        ({"key.fields": "id"}, "option 'key.fields': the table sets it"),
        ({"json.fail-on-missing-field": "maybe"}, "option 'json.fail-on-missing-field': expected true or false"),
        ({"key.json.no-such": "1"}, "unknown option 'key.json.no-such'"),
        ({"value.json.rescued-data-column": "rest"}, "option 'json.rescued-data-column': new fields become columns"),
    ],
    ids=str,
)
def test_what_is_refused(given: dict[str, str], problem: str) -> None:
    found = table()
    made = EvolvingTable.create(layout_of(found), found.columns_schema, found.primary_key, (), key_is_json=True)
    with pytest.raises(OptionsError, match=problem):
        evolving_read("orders", found.config, made, given)
