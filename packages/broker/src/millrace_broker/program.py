"""The program that a broker is: a Java, a Kafka and how much memory they may take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from millrace_broker import config, storage
from millrace_broker.install import DEFAULT_VERSION, Install
from millrace_broker.java import Java
from millrace_broker.plan import NodePlan
from millrace_broker.progress import Progress


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
        archive: Kafka's classes as this Java has loaded them once; none starts more slowly.
    """

    java: Java
    install: Install
    settings: Settings
    archive: Path | None = None

    def prepare(self, plan: NodePlan) -> list[str]:
        """Write the files that a broker starts from, and return the command that starts it.

        Raises:
            MachineError: The folder holds the data of another node.
        """
        storage.format_data(plan.data, self.install.folder / storage.TEMPLATE, plan.seat.cluster_id, plan.seat.node_id)
        config.write_files(plan)
        return [str(self.java.path), *self._java_options(plan), "kafka.Kafka", str(plan.folder / "server.properties")]

    def _java_options(self, plan: NodePlan) -> list[str]:
        own = self.settings.java_options
        options = [f"-Xmx{self.settings.heap}", "-Djava.awt.headless=true", *config.logging_options(plan)]
        # The libraries that Java unpacks go with the broker's own folder
        options.append(f"-Djava.io.tmpdir={plan.folder}")
        if not any(option.startswith("-XX:+Use") and option.endswith("GC") for option in own):
            # Starts half a second sooner than the default collector
            options.append("-XX:+UseSerialGC")
        if self.archive:
            options.append(f"-XX:SharedArchiveFile={self.archive}")
        return [*options, *own, "-cp", self.install.class_path]
