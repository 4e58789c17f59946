"""The output of ``millrace checkpoint show``."""

from __future__ import annotations

import json
from pathlib import Path

from support.checkpoints import QUERY, WrittenCheckpoint
from support.command_line import run_command

OPERATOR = 'v1\n{"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},"stateStoreInfo":[]}'
OFFSET = {"v": 1, "topics": {"orders": {"0": 1234}}, "stop": {"orders": {"0": 5000}}}


def test_a_checkpoint_is_described_in_lines(tmp_path: Path) -> None:
    written = WrittenCheckpoint(tmp_path).begin(6, OFFSET, {"paid": {"0": 7}}, 5, watermark=1_000)
    written.commit(6, watermark=2_500).keep_state("7.delta").keep_state("7.delta", store="0/1")
    written.write("state/0/_metadata/metadata", OPERATOR)
    assert (
        run_command("checkpoint", "show", tmp_path).output
        == f"""\
Query {QUERY}
  complete up to micro-batch 6, planned 2026-11-27 21:23:46.418Z; the log begins with 6
  watermark: 1970-01-01 00:00:02.500Z
  a restart begins micro-batch 7

Source 0: millrace
  orders-0: next offset 1,234

Source 1: Spark's Kafka connector
  paid-0: next offset 7

Source 2: another source
  5

State
  operator 0 stateStoreSave: 2 partitions, 0.0 MB, version 7

Settings that a restart keeps
  a.b = c
"""
    )


def test_a_micro_batch_that_is_repeated_is_described_with_its_records(tmp_path: Path) -> None:
    written = WrittenCheckpoint(tmp_path).begin(6, {**OFFSET, "topics": {"orders": {"0": 10}}}).commit(6)
    written.begin(7, {**OFFSET, "topics": {"orders": {"0": 12, "1": 4}}, "from": {"orders": {"1": 0}}})
    lines = run_command("checkpoint", "show", tmp_path).output.splitlines()
    assert lines[3:6] == ["  a restart repeats micro-batch 7", "    orders-0 [10, 12)", "    orders-1 [0, 4)"]


def test_programs_get_an_object(tmp_path: Path) -> None:
    WrittenCheckpoint(tmp_path, ("orders", "rates")).begin(0, OFFSET, "-")
    shown = json.loads(run_command("checkpoint", "show", tmp_path, "--json").output)
    assert shown["micro_batches"] == {"first": 0, "last": 0, "complete": None, "planned": None}
    assert shown["restart"] == {"micro_batch": 0, "repeats": True, "ranges": ["orders-0 [its beginning, 1234)"]}
    assert shown["sources"] == [
        {
            "source": "orders",
            "kind": "millrace",
            "offsets": {"orders": {"0": 1234}},
            "stops": {"orders": {"0": 5000}},
        },
        {"source": "rates", "kind": "no offset yet", "offset": "-"},
    ]
    assert (shown["state"], shown["watermark"], shown["settings"]) == ([], None, {"a.b": "c"})


def test_a_place_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    done = run_command("checkpoint", "show", "dbfs:/checkpoints/orders")
    assert done.exit_code == 1
    assert "opening the checkpoint dbfs:/checkpoints/orders failed: dbfs:// cannot be read from Python" in done.output
    assert "is not the checkpoint of a streaming query" in run_command("checkpoint", "show", tmp_path / "none").output
