from __future__ import annotations

import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from millrace.configuration.build import configure_source
from millrace.typed_options import JsonSourceOptions

DOCS = Path(__file__).parents[2] / "docs"


def test_the_types_are_what_options_are_declared_as(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    import generate_typed_options

    assert generate_typed_options.PAGE.read_text() == generate_typed_options.render(), "run: tox -e docs"
    del sys.modules["generate_typed_options"]


def test_the_data_source_takes_what_the_types_accept() -> None:
    options: JsonSourceOptions = {
        "properties.bootstrap.servers": "localhost:9092",
        "topic": "orders",
        "format": "json",
        "json.ignore-parse-errors": True,
        "scan.max-records-per-batch": 1_000,
    }
    assert options.keys() <= get_type_hints(JsonSourceOptions).keys()
    # As Spark gives them to the data source
    texts = {name: str(value).lower() if value is True else str(value) for name, value in options.items()}
    config = configure_source(texts)
    assert (config.options.topics, config.options.max_records_per_batch) == (("orders",), 1_000)
