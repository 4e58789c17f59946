"""``millrace broker start``, without a broker."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from millrace_broker import admin, background
from millrace_cli.commands.broker import broker


def test_an_existing_topic_with_other_partitions_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    created: list[Any] = []
    running = SimpleNamespace(
        bootstrap_servers="127.0.0.1:9092",
        started=time.time(),
        temporary=True,
        pid=1,
        version="4",
        data_dir=tmp_path,
        log_file=tmp_path,
    )
    monkeypatch.setattr(background, "start", lambda *_: (running, False))
    monkeypatch.setattr(admin, "partition_counts", lambda _: {"orders": 4, "same": 2, "any": 3})
    monkeypatch.setattr(admin, "create_topic", lambda *given: created.append(given[1:3]))
    topics = ["orders:8", "same:2", "any", "new"]

    ended = CliRunner().invoke(broker, ["start", *(text for topic in topics for text in ("--topic", topic))])

    assert ended.exit_code == 0
    told = "millrace: topic 'orders' exists and has 4 partitions, not 8; it is left as it is. "
    assert ended.stderr.splitlines() == [f"{told}Delete it, or choose another name"]
    assert created == [("new", 1)]
