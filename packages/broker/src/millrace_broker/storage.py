"""Formats a broker's data folder.

Kafka's own tool formats one at install time; from then on its bootstrap record, which depends on nothing but Kafka's
version, is copied. That saves a start of Java at each start of a broker.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.java import Java

TEMPLATE = "bootstrap.checkpoint"

_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
controller.listener.names=CONTROLLER
log.dirs={data}
"""


def new_id() -> str:
    """A random id in Kafka's own form: 22 characters of URL-safe base64."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()


def make_template(java: Java, class_path: str, folder: Path) -> None:
    """Let Kafka format a folder, and keep the record of the features that a new cluster starts with.

    Args:
        java: Runs Kafka's tool.
        class_path: Kafka's jars.
        folder: The file ``bootstrap.checkpoint`` comes into it.

    Raises:
        MachineError: The tool failed.
    """
    with tempfile.TemporaryDirectory(prefix="millrace-format-") as work:
        properties = Path(work, "server.properties")
        data = Path(work, "data")
        properties.write_text(_PROPERTIES.format(data=data))
        command = [str(java.path), "-XX:TieredStopAtLevel=1", "-cp", class_path, "kafka.tools.StorageTool"]
        command += ["format", "-t", new_id(), "-c", str(properties)]
        answer = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if answer.returncode != 0 or not (data / TEMPLATE).is_file():
            said = (answer.stdout + answer.stderr).strip()[-500:]
            raise MachineError(f"Kafka's storage tool did not format a new folder; it said: {said or 'nothing'}")
        shutil.copyfile(data / TEMPLATE, folder / TEMPLATE)


def format_data(data: Path, template: Path, cluster_id: str, node_id: int) -> None:
    """Make a folder ready for a broker's first start; one that was formatted before is left as it is.

    Args:
        data: The broker's log folder, created where missing.
        template: The ``bootstrap.checkpoint`` of the Kafka version that will run.
        cluster_id: The same for all brokers of a cluster.
        node_id: This broker's number.

    Raises:
        MachineError: The folder belongs to another node.
    """
    meta = data / "meta.properties"
    if meta.exists():
        owner = _node_of(meta)
        if owner != str(node_id):
            raise MachineError(
                f"{data} holds the data of Kafka node {owner}, not of node {node_id}; give another data_dir"
            )
        return
    data.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(template, data / TEMPLATE)
    # Last, since it is what marks the folder as formatted
    partial = data / "meta.properties.new"
    partial.write_text(f"version=1\ncluster.id={cluster_id}\nnode.id={node_id}\ndirectory.id={new_id()}\n")
    partial.rename(meta)


def _node_of(meta: Path) -> str:
    lines = (line.partition("=") for line in meta.read_text().splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == "node.id"), "?")
