"""The lines of progress that a run writes."""

from __future__ import annotations

from collections import Counter

from millrace_cdc.run_command import describe_progress
from millrace_cdc.runtime.progress import PipelineProgress, TableProgress
from millrace_cdc.runtime.schema_state import SchemaState


def test_the_first_line_says_that_the_pipeline_runs():
    assert describe_progress(PipelineProgress()) == "the pipeline runs, no changes yet"
    assert describe_progress(PipelineProgress(), behind=1_200) == "the pipeline runs, no changes yet, 1,200 behind"
    assert describe_progress(PipelineProgress(), has_ended=True) == "no changes"


def test_a_line_has_all_figures_once_there_is_one():
    progress = PipelineProgress({"a.t": TableProgress(rows=3)}, schema_changes=1)
    assert describe_progress(progress) == "1 table, 3 changes, 1 schema change, 0 malformed messages"
    broken = PipelineProgress(malformed=1)
    assert describe_progress(broken) == "0 tables, 0 changes, 0 schema changes, 1 malformed message"
    paused = PipelineProgress(paused={"a.t": "by hand"}, collected=Counter({"a.t": 2}))
    assert describe_progress(paused) == "the pipeline runs, no changes yet, paused: a.t (2 messages collected)"


def test_a_line_has_the_tables_that_a_micro_batch_has_written():
    progress = PipelineProgress()
    for _ in range(2):
        writing = progress.begin(7, 300)
        assert describe_progress(progress) == (
            "the pipeline runs, no changes yet, micro-batch 7: 0 of 300 tables written"
        )
        for name in ("a.t", "a.u", "a.t"):
            writing.written.add(name)
        assert describe_progress(progress).endswith(", micro-batch 7: 2 of 300 tables written")
    progress.count(SchemaState(), [], 0)
    assert "micro-batch" not in describe_progress(progress)
    progress.begin(8, 1)
    assert "micro-batch" not in describe_progress(progress)
