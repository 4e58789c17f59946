"""Makes this machine ready to run a broker, in the order in which things can be missing."""

from __future__ import annotations

from millrace_broker.archive import ensure_archive
from millrace_broker.install import ensure_installed
from millrace_broker.java import find_java
from millrace_broker.program import Program, Settings


def find_program(settings: Settings) -> Program:
    """Find Java, then Kafka, then the archive that makes it start quickly; the latter two are made where missing.

    Raises:
        MachineError: Java is missing or too old, or Kafka cannot be fetched.
    """
    java = find_java()
    install = ensure_installed(settings.version, java, settings.progress)
    return Program(java, install, settings, ensure_archive(java, install, settings))
