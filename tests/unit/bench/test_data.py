from __future__ import annotations

import json
from datetime import datetime

import pytest
from bench.data import SCHEMA, json_record


@pytest.mark.parametrize("index", [0, 1, 86_400, 1_999_999])
def test_a_record_has_the_schemas_fields_and_size(index: int) -> None:
    record = json_record(index)
    fields = json.loads(record)

    assert list(fields) == [column.split()[0] for column in SCHEMA.split(", ")]
    assert 110 <= len(record) <= 130
    assert fields["id"] == index
    datetime.strptime(fields["ts"], "%Y-%m-%d %H:%M:%S")
