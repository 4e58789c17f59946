"""What one broker is to be: its place in a cluster, its folder, its listeners and their ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from millrace.errors import MachineError, OptionsError
from millrace_broker.listener import Listener
from millrace_broker.ports import free_ports, is_free
from millrace_broker.storage import new_id

_INTERNAL = "MILLRACE_INTERNAL"


@dataclass(frozen=True)
class Seat:
    """A broker's place in a cluster.

    Args:
        node_id: Its number, from 1.
        cluster_id: The same for all brokers of the cluster.
        voters: The controller port of each node.
    """

    node_id: int
    cluster_id: str
    voters: Mapping[int, int]


@dataclass(frozen=True)
class NodePlan:
    """All that one broker is started with.

    Args:
        seat: Its place in a cluster.
        folder: Its data, configuration and logs.
        listeners: Where clients connect, with their ports; the first is where ``bootstrap_servers`` points.
        internal: Where brokers talk to each other and topics are created; PLAINTEXT.
        properties: Further entries of ``server.properties``, which win over the ones set here.
    """

    seat: Seat
    folder: Path
    listeners: tuple[Listener, ...]
    internal: Listener
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """Kafka's own log folder."""
        return self.folder / "data"

    @property
    def log_file(self) -> Path:
        """What the broker logs."""
        return self.folder / "server.log"

    @property
    def console_file(self) -> Path:
        """What Java prints."""
        return self.folder / "console.log"

    @property
    def all_listeners(self) -> tuple[Listener, ...]:
        """The listeners and, where it is not one of them, the internal one."""
        return self.listeners if self.internal in self.listeners else (*self.listeners, self.internal)


def make_plan(
    folder: Path, listeners: Sequence[Listener], properties: Mapping[str, str], seat: Seat | None = None
) -> NodePlan:
    """Give a broker its ports.

    Args:
        folder: Its data, configuration and logs.
        listeners: As they were asked for, port 0 standing for a free one.
        properties: Further entries of ``server.properties``.
        seat: Its place in a cluster; none makes a cluster of this broker alone.

    Raises:
        OptionsError: Two listeners have the same name.
        MachineError: A port that was asked for is taken.
    """
    _check_names(listeners)
    check_ports(listeners)
    own = free_ports(len(listeners) + 2)
    placed = tuple(
        listener if listener.port else listener.on(port) for listener, port in zip(listeners, own[2:], strict=True)
    )
    open_ones = (listener for listener in placed if listener.protocol == "PLAINTEXT" and not listener.config)
    internal = next(open_ones, Listener(_INTERNAL, port=own[0]))
    return NodePlan(seat or Seat(1, new_id(), {1: own[1]}), folder, placed, internal, properties)


def check_ports(listeners: Sequence[Listener]) -> None:
    """Check that nothing else listens on the ports that were asked for.

    Raises:
        MachineError: Something does.
    """
    for listener in listeners:
        if listener.port and not is_free(listener.port):
            raise MachineError(
                f"port {listener.port} of listener {listener.name} is taken by another program; "
                "stop that one, or give another port (0 for any free one)"
            )


def _check_names(listeners: Sequence[Listener]) -> None:
    names = [listener.name.upper() for listener in listeners]
    repeated = sorted({name for name in [*names, _INTERNAL] if [*names, _INTERNAL].count(name) > 1})
    if repeated:
        raise OptionsError("broker", (f"listener names must differ; these are taken: {', '.join(repeated)}",))
