"""The Java, the Kafka and the archive of loaded classes that a broker runs with.

The archive holds Kafka's loaded classes and halves the time of a start; Java calls it application class-data sharing
(AppCDS). It belongs to one Java and to the jars that it was made from: Java verifies that, and starts without the
archive where it does not fit.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.admin import await_ready
from millrace_broker.folders import exclusive_lock
from millrace_broker.installation import DEFAULT_VERSION, KafkaInstallation, ensure_installed, sha256
from millrace_broker.java import Java, find_java
from millrace_broker.listeners import Listener
from millrace_broker.node import (
    NodeConfig,
    broker_properties,
    configure_node,
    format_data_folder,
    logging_options,
    needs_zookeeper,
    server_properties,
    write_config_files,
)
from millrace_broker.process import GuardedProcess
from millrace_broker.progress import Progress

# Java writes the archive while it shuts down
_ARCHIVE_SHUTDOWN_SECONDS = 60.0


@dataclass(frozen=True)
class RuntimeSettings:
    """The settings that brokers run with.

    Args:
        progress: Told how far the download of Kafka is.
        version: Kafka's version.
        heap: Java's maximum heap, such as ``"512m"``.
        java_options: Further JVM options.
    """

    progress: Progress
    version: str = DEFAULT_VERSION
    heap: str = "512m"
    java_options: tuple[str, ...] = ()


@dataclass(frozen=True)
class KafkaRuntime:
    """A verified Java and Kafka, ready to run nodes.

    Args:
        java: The Java.
        installation: The Kafka.
        settings: The settings to run it with.
        class_archive: The archive of loaded classes; None starts more slowly.
    """

    java: Java
    installation: KafkaInstallation
    settings: RuntimeSettings
    class_archive: Path | None = None

    def prepare(self, config: NodeConfig) -> list[str]:
        """Write the files that a node starts from, and return the command that starts it.

        Raises:
            MachineError: The folder holds the data of another node.
        """
        if needs_zookeeper(self.installation.version):
            write_config_files(config, broker_properties(config))
        else:
            format_data_folder(config.data_folder, self.installation.bootstrap_record, config.member)
            write_config_files(config, server_properties(config))
        return [*self.java_command(config), "kafka.Kafka", str(config.properties_file)]

    def java_command(self, config: NodeConfig) -> list[str]:
        """Return Java with its options, among them the class path."""
        return [str(self.java.path), *self._java_options(config)]

    def _java_options(self, config: NodeConfig) -> list[str]:
        user_options = self.settings.java_options
        options = [f"-Xmx{self.settings.heap}", "-Djava.awt.headless=true", *logging_options(config)]
        # Native libraries that Java unpacks are deleted with the broker's folder
        options.append(f"-Djava.io.tmpdir={config.folder}")
        if not any(option.startswith("-XX:+Use") and option.endswith("GC") for option in user_options):
            # Starts half a second sooner than the default collector
            options.append("-XX:+UseSerialGC")
        if self.class_archive:
            options.append(f"-XX:SharedArchiveFile={self.class_archive}")
        return [*options, *user_options, "-cp", self.installation.class_path]


def prepare_runtime(settings: RuntimeSettings) -> KafkaRuntime:
    """Find Java, then Kafka, then the class archive; the latter two are created where missing.

    Raises:
        MachineError: Java is missing or too old, or Kafka cannot be downloaded.
    """
    java = find_java()
    installation = ensure_installed(settings.version, java, settings.progress)
    archive = ensure_class_archive(java, installation, settings.progress)
    return KafkaRuntime(java, installation, settings, archive)


def create_class_archive(archive: Path, java: Java, installation: KafkaInstallation) -> None:
    """Run a broker once to write its class archive, and the archive's checksum beside it.

    Raises:
        MachineError: The broker does not start, or Java writes no archive.
    """
    with tempfile.TemporaryDirectory(prefix="millrace-classes-") as folder:
        config = configure_node(Path(folder), [Listener("PLAINTEXT")], {})
        partial = archive.with_suffix(f".{os.getpid()}")
        settings = RuntimeSettings(_discard, java_options=(f"-XX:ArchiveClassesAtExit={partial}",))
        command = KafkaRuntime(java, installation, settings).prepare(config)
        process = GuardedProcess(config.folder)
        try:
            process.start(command, config.console_file)
            await_ready(config, process.exit_code, frozenset([config.member.node_id]), config.ports(settings.version))
            process.stop(_ARCHIVE_SHUTDOWN_SECONDS)
            if not partial.exists():
                raise MachineError(f"Java {java.version} wrote no class archive")
            _checksum_file(archive).write_text(sha256(partial))
            partial.replace(archive)
        finally:
            process.close()
            partial.unlink(missing_ok=True)


def ensure_class_archive(
    java: Java,
    installation: KafkaInstallation,
    progress: Progress,
    create: Callable[[Path, Java, KafkaInstallation], None] = create_class_archive,
) -> Path | None:
    """Find the class archive of this Java, or create it by running a broker once; None where that fails.

    Args:
        java: The Java that will use it.
        installation: The Kafka that will use it; the archive is kept in its folder.
        progress: Told when an archive is created.
        create: Writes the archive and its checksum.
    """
    if needs_zookeeper(installation.version):
        # It would need a ZooKeeper to run once, for versions that only few tests use
        return None
    archive = class_archive_path(java, installation)
    if _is_intact(archive):
        return archive
    if not os.access(installation.folder, os.W_OK):
        return None
    version = installation.version
    with exclusive_lock(installation.folder.parent / f"{version}.lock"):
        if not _is_intact(archive):
            progress(f"preparing Apache Kafka {version} for quick starts (once)")
            try:
                create(archive, java, installation)
            except MachineError as error:
                # Only time is lost, and a broker that cannot run at all reports that itself
                progress(f"Apache Kafka {version} will start slowly: {error}")
                return None
    return archive


def class_archive_path(java: Java, installation: KafkaInstallation) -> Path:
    """Return the path of the class archive for this Java."""
    build = hashlib.sha256(f"{java.path.resolve()} {java.build}".encode()).hexdigest()[:12]
    return installation.folder / f"classes-{build}.jsa"


def _is_intact(archive: Path) -> bool:
    # A damaged archive could crash Java, which verifies the header alone
    try:
        return sha256(archive) == _checksum_file(archive).read_text()
    except OSError:
        return False


def _checksum_file(archive: Path) -> Path:
    return archive.with_suffix(".sha256")


def _discard(_message: str) -> None:
    pass
