"""The options of Delta Lake as a sink of pipelines."""

from __future__ import annotations

import pytest

from millrace.errors import MachineError
from millrace.testing import PipelineSinkSuite
from millrace_cdc.connectors.delta import sink as module
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from support.pipeline_sinks import make_sink


class TestDeltaSink(PipelineSinkSuite):
    def make_plugin(self):
        return make_sink(DeltaPipelineSink, path="/lake", **{"storage.aws_access_key_id": "k"})


def test_secrets_of_the_storage_are_in_no_repr():
    sink = make_sink(DeltaPipelineSink, path="/lake", **{"storage.aws_secret_access_key": "hunter2"})
    assert dict(sink.options.storage) == {"aws_secret_access_key": "hunter2"}
    assert "hunter2" not in repr(sink.options)


def test_a_missing_package_is_named_before_the_start(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"pip install 'millrace-cdc\[delta\]'"):
        make_sink(DeltaPipelineSink, path="/lake").check(None)
