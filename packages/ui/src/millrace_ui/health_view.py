"""The health view: the checks of ``millrace doctor``, installed plugins with their state, versions."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from importlib.metadata import distributions
from typing import Any

from millrace.diagnosis.run import diagnose
from millrace.plugins import plugin_manager, plugin_states
from millrace.spark_python import environment_at_import
from millrace_ui.health import Health

_SHOWN_PACKAGES = ("confluent-kafka", "millrace", "pyarrow", "pyspark", "starlette", "uvicorn")


def health_view(health: Health, kafka: Mapping[str, str], command: str) -> dict[str, Any]:
    """Return the checks of this machine and of a connection.

    Args:
        health: The state of the session's queries.
        kafka: Kafka's client properties; empty to check the machine alone.
        command: The command that prints the same checks.
    """
    diagnosis = diagnose(kafka, environment=environment_at_import())
    return {
        "isWell": health.is_well,
        "sentence": health.sentence,
        "isSound": diagnosis.is_sound,
        "findings": [dataclasses.asdict(finding) for finding in diagnosis.findings],
        "plugins": plugins_view(),
        "versions": versions(),
        "command": command,
    }


def plugins_view() -> list[dict[str, Any]]:
    """Return the installed plugins with their state, and packages whose plugins could not be listed."""
    manager = plugin_manager()
    states = [
        {
            "kind": state.entry.kind.name,
            "name": state.entry.name,
            "package": f"{state.entry.distribution} {state.entry.version}",
            "state": "failed" if state.problem else "incomplete" if state.missing else "ok",
            "reason": state.problem or state.missing or None,
        }
        for state in plugin_states(manager)
    ]
    failures = [
        {
            "kind": "package",
            "name": failure.entry_point,
            "package": f"{failure.distribution} {failure.version}",
            "state": "failed",
            "reason": str(failure.cause),
        }
        for failure in manager.discovery.failures
    ]
    return [*failures, *states]


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that matter, by name."""
    installed = {(one.metadata["Name"] or "").lower().replace("_", "-"): one.version for one in distributions()}
    ours = {name: text for name, text in sorted(installed.items()) if name.startswith(_SHOWN_PACKAGES)}
    return {"python": platform.python_version(), **ours}
