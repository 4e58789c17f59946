"""The name to install brings all packages, which run README.md's program; ``dist/`` lists what they consist of."""

from __future__ import annotations

import json
import re

from support.admin import delete_topics
from support.environments import ROOT
from support.kafka import consume

ORDERS = ("orders", "large-orders")


def test_readmes_program_runs(install, broker, tmp_path):
    environment = install("millrace-kafka")
    (program,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    script = tmp_path / "program.py"
    script.write_text(program.replace("localhost:9092", broker.bootstrap_servers))
    for topic in ORDERS:
        broker.create_topic(topic, 4)
    try:
        environment.output("python", script, cwd=tmp_path)
        written = [json.loads(message.value())["id"] for message in consume(broker.bootstrap_servers, "large-orders")]
    finally:
        delete_topics(broker.bootstrap_servers, ORDERS)

    assert sorted(written) == [2, 3]


def test_the_bill_of_materials_names_all_packages_and_what_they_need():
    bill = json.loads((ROOT / "dist" / "millrace-kafka.cdx.json").read_text())
    names = {component["name"] for component in bill["components"]}
    packages = set(json.loads((ROOT / "dist" / "packages.json").read_text()))
    assert packages - {"millrace-kafka"} <= names
    assert {"pyspark", "confluent-kafka", "pyarrow"} <= names
