"""A sink and a source of pipelines that other packages offer: those of the page of skeletons, one after the other."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
from pyspark import cloudpickle

from millrace_cdc import Pipeline
from millrace_cdc.pipeline import RunningPipeline
from support.names import unique_name

PAGE = (Path(__file__).parents[2] / "docs/plugin-skeletons.md").read_text()

TO_ARCHIVE = """
source:
  type: values
  changes: |
    +I shop.orders {{"id": 1, "price": 5, "note": "a \\"b\\""}}
    -U shop.orders {{"id": 1, "price": 5, "note": "a \\"b\\""}}
    +U shop.orders {{"id": 1, "price": 6.5, "note": null}}
    +I `shop`.`a.b` {{"id": 2}}
    +I shop.orders {{"id": 3, "price": 1, "note": "x"}}
    -D shop.orders {{"id": 3, "price": 1, "note": "x"}}
sink: {{type: "{module}:Archive", folder: {folder}}}
transform: [{{source-table: \\.*.\\.*, primary-keys: id}}]
"""

FROM_ARCHIVE = """
source: {{type: "{module}:ArchiveSource", folder: {folder}}}
sink: {{type: values, materialized.in.memory: true, print.enabled: false}}
transform: [{{source-table: shop.\\.*, primary-keys: id}}]
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    """The name of a module of the skeletons, which executors do not have."""
    name = unique_name("skeletons").replace("-", "_")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / f"{name}.py").write_text("\n\n".join(blocks))
    monkeypatch.syspath_prepend(tmp_path)
    cloudpickle.register_pickle_by_value(importlib.import_module(name))
    return name


def run(spark, text: str, checkpoint: Path) -> RunningPipeline:
    running = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(checkpoint), once=True)
    running.await_termination()
    return running


def test_what_the_sink_of_the_docs_writes_is_read_by_the_source_of_the_docs(spark, tmp_path, module):
    folder = tmp_path / "archive"
    run(spark, TO_ARCHIVE.format(module=module, folder=folder), tmp_path / "first")

    copied = run(spark, FROM_ARCHIVE.format(module=module, folder=folder), tmp_path / "second")

    assert copied.sink.tables == {"shop.orders": [{"id": 1, "price": 6.5, "note": None}], "shop.`a.b`": [{"id": 2}]}

    # A change that comes later, with a new column
    late = {
        "table": "shop.orders",
        "operation": "c",
        "after": '{"id": 4, "paid": true}',
        "topic": "more",
        "partition": 0,
    }
    (folder / "late.json").write_text(json.dumps(late | {"offset": 0}))
    more = run(spark, FROM_ARCHIVE.format(module=module, folder=folder), tmp_path / "second")
    assert more.sink.tables["shop.orders"] == [{"id": 4, "price": None, "note": None, "paid": True}]
