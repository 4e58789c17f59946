"""The program that a broker is: a Java, a Kafka and how much memory they may take."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.embedded import config, storage
from millrace.embedded.install import DEFAULT_VERSION, Install, ensure_installed
from millrace.embedded.java import Java, find_java
from millrace.embedded.plan import NodePlan
from millrace.embedded.progress import Progress


@dataclass(frozen=True)
class Settings:
    """What a broker is run with.

    Args:
        version: Kafka's version.
        heap: Java's largest heap, such as ``"512m"``.
        java_options: Further options of Java.
        progress: Told how far the fetching of Kafka is.
    """

    progress: Progress
    version: str = DEFAULT_VERSION
    heap: str = "512m"
    java_options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A Java and a Kafka that were found and checked.

    Args:
        java: The Java.
        install: The Kafka.
        settings: What was asked for.
    """

    java: Java
    install: Install
    settings: Settings

    @classmethod
    def find(cls, settings: Settings) -> Program:
        """Find Java, and then Kafka, which is fetched where it is missing.

        Raises:
            MachineError: Java is missing or too old, or Kafka cannot be fetched.
        """
        java = find_java()
        return cls(java, ensure_installed(settings.version, java, settings.progress), settings)

    def prepare(self, plan: NodePlan) -> list[str]:
        """Write the files that a broker starts from, and return the command that starts it.

        Raises:
            MachineError: The folder holds the data of another node.
        """
        storage.format_data(plan.data, self.install.folder / storage.TEMPLATE, plan.seat.cluster_id, plan.seat.node_id)
        config.write_files(plan)
        return config.command(plan, self.install, self.java, self.settings.heap, self.settings.java_options)
