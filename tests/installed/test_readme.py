"""README.md's program, in an environment that holds what README.md installs."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.admin import delete_topics
from support.environments import ROOT
from support.kafka import consume

ORDERS = ("orders", "large-orders")


def test_its_program_runs_and_continues_where_it_ended(plain, broker, tmp_path):
    (program,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    script = tmp_path / "program.py"
    script.write_text(program.replace("localhost:9092", broker.bootstrap_servers))
    for topic in ORDERS:
        broker.create_topic(topic, 4)
    try:
        shown = plain.output("python", script, cwd=tmp_path)
        written = [json.loads(each.value())["id"] for each in consume(broker.bootstrap_servers, "large-orders")]
    finally:
        delete_topics(broker.bootstrap_servers, ORDERS)

    assert sorted(written) == [2, 3]
    assert re.search(r"\| +2\| +fr\| 120.0\|", shown)


def test_nothing_of_the_tests_is_there(plain, tmp_path):
    ask = "import millrace, pyspark, sys; print(*sys.path, millrace.__file__, pyspark.__file__, sep='\\n')"
    folders = [Path(line) for line in plain.output("python", "-c", ask, cwd=tmp_path).splitlines() if line]

    installed = plain.folder / "lib"
    assert [each for each in folders if ROOT in each.parents] == []
    assert [each for each in folders if "site-packages" in each.parts and installed not in each.parents] == []
    assert plain.run("python", "-c", "import pytest", cwd=tmp_path).returncode == 1
