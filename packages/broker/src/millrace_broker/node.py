"""One Kafka node: its configuration, the files it starts from and its formatted data folder."""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from millrace.errors import MachineError, OptionsError
from millrace_broker.listeners import Listener, free_ports, is_free

BOOTSTRAP_RECORD = "bootstrap.checkpoint"
"""The file that a newly formatted data folder starts from; it depends on Kafka's version alone."""

_INTERNAL = "MILLRACE_INTERNAL"
_OF_KRAFT = ("process.roles", "node.id", "controller.quorum.voters", "controller.listener.names")
_CONTROLLER = "CONTROLLER"
_SERVER_PROPERTIES = "server.properties"
_LOG4J_PROPERTIES = "log4j2.properties"

_LOG4J = """status=error
appender.file.type=File
appender.file.name=file
appender.file.fileName=${sys:millrace.log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n%xEx
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
"""

_DEFAULT_PROPERTIES = {
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Each of these partitions costs start-up time on first use
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # A killed broker can rejoin once its last session has expired, by default after 9 seconds
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Records with old timestamps would be deleted minutes after they are written
    "log.retention.ms": "-1",
    # The default takes 128 MB of a small heap
    "log.cleaner.dedupe.buffer.size": "33554432",
}


@dataclass(frozen=True)
class ClusterMember:
    """A node's identity in a cluster.

    Args:
        node_id: The node's id, from 1.
        cluster_id: The cluster's id, the same for all nodes.
        voters: The controller port of each node, by node id.
    """

    node_id: int
    cluster_id: str
    voters: Mapping[int, int]


@dataclass(frozen=True)
class NodeConfig:
    """The complete configuration of one node.

    Args:
        member: The node's identity in its cluster.
        folder: Holds its data, configuration and logs.
        listeners: Listeners for clients, with their ports; ``bootstrap_servers`` names the first.
        internal: The PLAINTEXT listener between brokers, also used to create topics.
        properties: Further entries of ``server.properties``, which override the defaults.
    """

    member: ClusterMember
    folder: Path
    listeners: tuple[Listener, ...]
    internal: Listener
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def data_folder(self) -> Path:
        """Kafka's ``log.dirs``."""
        return self.folder / "data"

    @property
    def properties_file(self) -> Path:
        """The node's ``server.properties``."""
        return self.folder / _SERVER_PROPERTIES

    @property
    def log_file(self) -> Path:
        """The broker's log."""
        return self.folder / "server.log"

    @property
    def console_file(self) -> Path:
        """Standard output and error of the broker's Java process."""
        return self.folder / "console.log"

    @property
    def all_listeners(self) -> tuple[Listener, ...]:
        """The listeners for clients, and the internal one unless it is among them."""
        return self.listeners if self.internal in self.listeners else (*self.listeners, self.internal)

    def ports(self, version: str) -> tuple[int, ...]:
        """Return the ports that a broker of this version listens on; a ZooKeeper has its own."""
        controller = () if needs_zookeeper(version) else (self.member.voters[self.member.node_id],)
        return (*(listener.port for listener in self.all_listeners), *controller)


def configure_node(
    folder: Path, listeners: Sequence[Listener], properties: Mapping[str, str], member: ClusterMember | None = None
) -> NodeConfig:
    """Assign ports to a node's listeners.

    Args:
        folder: Holds its data, configuration and logs.
        listeners: The requested listeners; port 0 is replaced by a free one.
        properties: Further entries of ``server.properties``.
        member: Its identity in a cluster; by default it forms a new cluster alone.

    Raises:
        OptionsError: Two listeners have the same name.
        MachineError: A requested port is taken.
    """
    _check_names(listeners)
    _check_ports(listeners)
    taken = {listener.port for listener in listeners} | set(member.voters.values() if member else ())
    internal_port, controller_port, *ports = free_ports(len(listeners) + 2, taken)
    placed = tuple(
        listener if listener.port else listener.with_port(port) for listener, port in zip(listeners, ports, strict=True)
    )
    unsecured = (listener for listener in placed if listener.protocol == "PLAINTEXT" and not listener.config)
    internal = next(unsecured, Listener(_INTERNAL, port=internal_port))
    return NodeConfig(member or ClusterMember(1, new_id(), {1: controller_port}), folder, placed, internal, properties)


def server_properties(config: NodeConfig) -> dict[str, str]:
    """Return the entries of a node's ``server.properties``, described in Kafka's Broker Configs."""
    member, listeners = config.member, config.all_listeners
    replicas = str(min(3, len(member.voters)))
    protocols = [f"{listener.name}:{listener.protocol}" for listener in listeners]
    addresses = [f"{listener.name}://{listener.address}" for listener in listeners]
    entries = {
        "process.roles": "broker,controller",
        "node.id": str(member.node_id),
        "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{port}" for node, port in member.voters.items()),
        "listeners": ",".join([*addresses, f"CONTROLLER://127.0.0.1:{member.voters[member.node_id]}"]),
        "advertised.listeners": ",".join(addresses),
        "listener.security.protocol.map": ",".join([*protocols, "CONTROLLER:PLAINTEXT"]),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": config.internal.name,
        "log.dirs": str(config.data_folder),
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "share.coordinator.state.topic.replication.factor": replicas,
        **_DEFAULT_PROPERTIES,
    }
    for listener in config.listeners:
        prefix = f"listener.name.{listener.name.lower()}."
        entries.update({prefix + key: value for key, value in listener.config.items()})
    return {**entries, **config.properties}


def needs_zookeeper(version: str) -> bool:
    """Return whether this version of Kafka needs ZooKeeper: its own controllers came with 3.3."""
    return version.startswith("2.")


def zookeeper_port(config: NodeConfig) -> int:
    """Return the port of a node's ZooKeeper: the one that newer versions use for their controller."""
    return config.member.voters[config.member.node_id]


def broker_properties(config: NodeConfig) -> dict[str, str]:
    """Return the entries of ``server.properties`` for a broker with ZooKeeper."""
    entries = {name: value for name, value in server_properties(config).items() if name not in _OF_KRAFT}
    for name in ("listeners", "listener.security.protocol.map"):
        entries[name] = ",".join(
            listener for listener in entries[name].split(",") if not listener.startswith(_CONTROLLER)
        )
    zookeeper = {"broker.id": str(config.member.node_id), "zookeeper.connect": f"127.0.0.1:{zookeeper_port(config)}"}
    # A restarted broker waits for its predecessor's session to end
    return {**entries, **zookeeper, "zookeeper.session.timeout.ms": "6000", **config.properties}


def write_config_files(config: NodeConfig, properties: Mapping[str, str]) -> None:
    """Write ``server.properties`` and ``log4j2.properties`` into the node's folder.

    Args:
        config: The node.
        properties: The entries of ``server.properties``.
    """
    lines = (f"{key}={_escape(value)}\n" for key, value in properties.items())
    # Listener properties may hold passwords
    config.properties_file.touch(mode=0o600)
    config.properties_file.write_text("".join(lines))
    (config.folder / _LOG4J_PROPERTIES).write_text(_LOG4J)


def logging_options(config: NodeConfig) -> list[str]:
    """Return the JVM options that select the logging configuration of `write_config_files`."""
    return [f"-Dlog4j2.configurationFile={config.folder / _LOG4J_PROPERTIES}", f"-Dmillrace.log={config.log_file}"]


def format_data_folder(data: Path, bootstrap_record: Path, member: ClusterMember) -> None:
    """Format a data folder for a node's first start, as ``kafka-storage.sh format`` does.

    A folder that was formatted before is left as it is. Copying the bootstrap record saves a start of Java each time.

    Args:
        data: The node's ``log.dirs``, created where missing.
        bootstrap_record: The ``bootstrap.checkpoint`` of the Kafka version that will run.
        member: The node's identity in its cluster.

    Raises:
        MachineError: The folder belongs to another node.
    """
    meta = data / "meta.properties"
    if meta.exists():
        owner = _node_id_in(meta)
        if owner != str(member.node_id):
            raise MachineError(
                f"{data} holds the data of Kafka node {owner}, not of node {member.node_id}; use another data_dir"
            )
        return
    data.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(bootstrap_record, data / BOOTSTRAP_RECORD)
    # Written last, since it marks the folder as formatted
    partial = data / "meta.properties.new"
    partial.write_text(
        f"version=1\ncluster.id={member.cluster_id}\nnode.id={member.node_id}\ndirectory.id={new_id()}\n"
    )
    partial.rename(meta)


def new_id() -> str:
    """Return a random id in Kafka's form: 22 characters of URL-safe base64, the first of them no hyphen."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        # Kafka's tools take an argument that begins with a hyphen for an option; its own random ids never do
        if not text.startswith("-"):
            return text


def _check_names(listeners: Sequence[Listener]) -> None:
    names = [_INTERNAL, *(listener.name.upper() for listener in listeners)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise OptionsError("broker", (f"listener names must differ; used more than once: {', '.join(repeated)}",))


def _check_ports(listeners: Sequence[Listener]) -> None:
    for listener in listeners:
        if listener.port and not is_free(listener.port):
            raise MachineError(
                f"port {listener.port} of listener {listener.name} is taken by another program; "
                "stop that program, or choose another port (0 for any free one)"
            )


def _node_id_in(meta: Path) -> str:
    entries = (line.partition("=") for line in meta.read_text().splitlines())
    return next((value.strip() for key, _, value in entries if key.strip() == "node.id"), "?")


def _escape(value: str) -> str:
    # Java reads the file as Latin-1, with backslash escapes
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "".join(char if ord(char) < 127 else f"\\u{ord(char):04x}" for char in escaped)
