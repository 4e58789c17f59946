"""Options of tables as Flink named them before 1.11, such as ``connector.type``.

See "Connectors" in https://nightlies.apache.org/flink/flink-docs-release-1.10/dev/table/connect.html.
"""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = {
    "connector.type": "connector",
    "connector.topic": "topic",
    "connector.startup-mode": "scan.startup.mode",
    "connector.specific-offsets": "scan.startup.specific-offsets",
    "connector.startup-timestamp-millis": "scan.startup.timestamp-millis",
    "connector.sink-partitioner": "sink.partitioner",
    "connector.sink-partitioner-class": "sink.partitioner",
    "connector.table": "table-name",
    "format.type": "format",
}
_WITHOUT_SUCCESSOR = {
    "connector.version",
    "connector.property-version",
    "format.property-version",
    "format.derive-schema",
    "format.schema",
    "update-mode",
}
_CONNECTOR, _FORMAT = "connector.", "format."


def legacy_advice(options: Mapping[str, str]) -> str:
    """Return how to write the old names among some options today; empty where there are none."""
    if "connector.type" not in options:
        return ""
    successors = {name: _successor(name, options) for name in options}
    renamed = [f"{name!r} as {new!r}" for name, new in successors.items() if new]
    dropped = [repr(name) for name in options if name in _WITHOUT_SUCCESSOR]
    without = f", and leave out {', '.join(dropped)}" if dropped else ""
    return f"the options have the names of Flink before 1.11: write {', '.join(renamed)}{without}"


def _successor(name: str, options: Mapping[str, str]) -> str | None:
    if name in _NAMES or name in _WITHOUT_SUCCESSOR:
        return _NAMES.get(name)
    if name.startswith(_FORMAT):
        return f"{options.get('format.type', 'json')}.{name.removeprefix(_FORMAT)}"
    return name.removeprefix(_CONNECTOR) if name.startswith(_CONNECTOR) else None
