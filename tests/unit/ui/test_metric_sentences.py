from __future__ import annotations

import re

from millrace_ui.endpoints import PAGE_FOLDER
from millrace_ui.metric_sentences import metric_sentences

# Not metrics, or computed from declared ones
WITHOUT_SENTENCE = {"partition", "numRecordsOutPerSecond", "numBytesOutPerSecond", "producers"}


def test_each_figure_of_partitions_and_sinks_has_the_sentence_of_a_declared_metric() -> None:
    texts = (PAGE_FOLDER / "texts.js").read_text()
    (partitions,) = re.findall(r"partitionColumns: \{(.*)\}", texts)
    (sink,) = re.findall(r"sinkFigures: \{(.*)\}", texts)
    names = re.findall(r"(\w+): \"", partitions + sink)
    assert "pendingRecords" in names
    assert set(names) - metric_sentences().keys() == WITHOUT_SENTENCE
