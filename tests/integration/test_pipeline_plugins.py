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

CHANGES = [
    ("shop.orders", "c", None, {"id": 1, "price": 5, "note": 'a "b"'}),
    ("shop.orders", "u", {"id": 1, "price": 5, "note": 'a "b"'}, {"id": 1, "price": 6.5, "note": None}),
    ("shop.`a.b`", "c", None, {"id": 2}),
    ("shop.orders", "c", None, {"id": 3, "price": 1, "note": "x"}),
    ("shop.orders", "d", {"id": 3, "price": 1, "note": "x"}, None),
]

PIPELINE = """
source: {{type: "{module}:ArchiveSource", folder: {source}}}
sink: {{{sink}}}
transform: [{{source-table: \\.*.\\.*, primary-keys: id}}]
"""

IN_MEMORY = "type: values, materialized.in.memory: true, print.enabled: false"


def lines(changes, topic: str) -> str:
    """Changes as the source of the docs reads them, of one partition."""
    texts = [[None if row is None else json.dumps(row) for row in change[2:]] for change in changes]
    return "\n".join(
        json.dumps(
            {"table": table, "operation": operation, "before": before, "after": after}
            | {"topic": topic, "partition": 0, "offset": offset, "timestamp": "2024-01-01T00:00:00Z"}
        )
        for offset, ((table, operation, _, _), (before, after)) in enumerate(zip(changes, texts, strict=True))
    )


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
    first, archive = tmp_path / "first", tmp_path / "archive"
    first.mkdir()
    (first / "changes.json").write_text(lines(CHANGES, "orders"))
    to_archive = PIPELINE.format(module=module, source=first, sink=f'type: "{module}:Archive", folder: {archive}')
    run(spark, to_archive, tmp_path / "to-archive")

    from_archive = PIPELINE.format(module=module, source=archive, sink=IN_MEMORY)
    copied = run(spark, from_archive, tmp_path / "from-archive")

    assert copied.sink.tables == {"shop.orders": [{"id": 1, "price": 6.5, "note": None}], "shop.`a.b`": [{"id": 2}]}

    # A change that comes later, with a new column
    (archive / "late.json").write_text(lines([("shop.orders", "c", None, {"id": 4, "paid": True})], "more"))
    later = run(spark, from_archive, tmp_path / "from-archive")
    assert later.sink.tables["shop.orders"] == [{"id": 4, "price": None, "note": None, "paid": True}]
