"""Writes a broker's configuration: ``server.properties``, and the one of its log."""

from __future__ import annotations

from millrace_broker.plan import NodePlan

_LOG4J = """status=error
appender.file.type=File
appender.file.name=file
appender.file.fileName=${sys:millrace.log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n%xEx
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
"""


_FIXED = {
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Each of these partitions costs start-up time on first use
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # A broker that was killed may come back when its last session is over, which is 9 seconds by default
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Records with old timestamps would be deleted minutes after they were written
    "log.retention.ms": "-1",
    # The default takes 128 MB of a small heap
    "log.cleaner.dedupe.buffer.size": "33554432",
}


def server_properties(plan: NodePlan) -> dict[str, str]:
    """The entries of a broker's ``server.properties``."""
    seat, listeners = plan.seat, plan.all_listeners
    replicas = str(min(3, len(seat.voters)))
    protocols = [f"{listener.name}:{listener.protocol}" for listener in listeners]
    addresses = [f"{listener.name}://{listener.address}" for listener in listeners]
    entries = {
        "process.roles": "broker,controller",
        "node.id": str(seat.node_id),
        "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{port}" for node, port in seat.voters.items()),
        "listeners": ",".join([*addresses, f"CONTROLLER://127.0.0.1:{seat.voters[seat.node_id]}"]),
        "advertised.listeners": ",".join(addresses),
        "listener.security.protocol.map": ",".join([*protocols, "CONTROLLER:PLAINTEXT"]),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": plan.internal.name,
        "log.dirs": str(plan.data),
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "share.coordinator.state.topic.replication.factor": replicas,
        **_FIXED,
    }
    for listener in plan.listeners:
        prefix = f"listener.name.{listener.name.lower()}."
        entries.update({prefix + key: value for key, value in listener.config.items()})
    return {**entries, **plan.properties}


def write_files(plan: NodePlan) -> None:
    """Write ``server.properties`` and ``log4j2.properties`` into the plan's folder."""
    lines = (f"{key}={_escape(value)}\n" for key, value in server_properties(plan).items())
    properties = plan.folder / "server.properties"
    # Listener properties may hold passwords
    properties.touch(mode=0o600)
    properties.write_text("".join(lines))
    (plan.folder / "log4j2.properties").write_text(_LOG4J)


def logging_options(plan: NodePlan) -> list[str]:
    """The options of Java that make the broker log as `write_files` has configured it."""
    return [f"-Dlog4j2.configurationFile={plan.folder / 'log4j2.properties'}", f"-Dmillrace.log={plan.log_file}"]


def _escape(value: str) -> str:
    # The file is read as Latin-1, with Java's escapes
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "".join(char if ord(char) < 127 else f"\\u{ord(char):04x}" for char in escaped)
