"""A proxy that brings a broker some milliseconds away, and counts what clients ask of it and what they get."""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Self

_CHUNK = 256 * 1024
_HEADER = struct.Struct(">ih")
"""The beginning of a request: its length, without these four bytes, and its kind."""

_REQUESTS = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    18: "ApiVersions",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    28: "TxnOffsetCommit",
    32: "DescribeConfigs",
    60: "DescribeCluster",
    75: "DescribeTopicPartitions",
}
"""Kafka's names of kinds of requests."""


@dataclass
class Traffic:
    """The traffic of clients since the last count.

    Attributes:
        connections: The number of connections that they opened.
        requests: The number of requests, by Kafka's name for their kind.
        answered_bytes: The number of bytes that came from the broker.
    """

    connections: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    answered_bytes: int = 0


class DelayedProxy:
    """A proxy in a process of its own, on a loopback port; without delay until it has a distance.

    Args:
        port: The port that clients connect to.
        target: The port of the broker's listener that they reach, which advertises the other one.
    """

    def __init__(self, port: int, target: int) -> None:
        # Neither Spark's process nor the broker's clients of this one are to be forked
        context = get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(port, target, other), daemon=True)
        self._port = port

    def __enter__(self) -> Self:
        self._process.start()
        self._connection.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    @property
    def servers(self) -> str:
        """The broker's address through the proxy."""
        return f"127.0.0.1:{self._port}"

    def set_round_trip(self, milliseconds: float) -> None:
        """Change how long a request and its answer are on their way together, also for connections that are open."""
        self._connection.send(milliseconds / 2_000)
        self._connection.recv()

    def take_traffic(self) -> Traffic:
        """Return the traffic since the last call."""
        self._connection.send(None)
        traffic: Traffic = self._connection.recv()
        return traffic


class _Proxy:
    """The proxy's process: four threads for each connection, which wait nearly always."""

    def __init__(self, target: int) -> None:
        self.delay_s = 0.0
        self._target = target
        self._lock = threading.Lock()
        self._traffic = Traffic()

    def take_traffic(self) -> Traffic:
        with self._lock:
            taken, self._traffic = self._traffic, Traffic()
        return taken

    def accept(self, server: socket.socket) -> None:
        while True:
            near, _ = server.accept()
            with self._lock:
                self._traffic.connections += 1
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            for receiver, sender, requests in ((near, far, _RequestCounter()), (far, near, None)):
                sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                under_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                _start(self._receive, receiver, under_way, requests)
                _start(_send, sender, under_way)

    def _receive(
        self,
        receiver: socket.socket,
        under_way: queue.SimpleQueue[tuple[float, bytes]],
        requests: _RequestCounter | None,
    ) -> None:
        data = b"-"
        while data:
            try:
                data = receiver.recv(_CHUNK)
            except OSError:
                data = b""
            under_way.put((time.monotonic() + self.delay_s, data))
            if requests is None:
                with self._lock:
                    self._traffic.answered_bytes += len(data)
            elif kinds := requests.kinds(data):
                with self._lock:
                    self._traffic.requests.update(kinds)


def _send(sender: socket.socket, under_way: queue.SimpleQueue[tuple[float, bytes]]) -> None:
    with suppress(OSError):
        while True:
            due, data = under_way.get()
            if (wait_s := due - time.monotonic()) > 0:
                time.sleep(wait_s)
            if not data:
                break
            sender.sendall(data)
    # Ends the thread that receives from this socket, too, after what is under way the other way
    with suppress(OSError):
        sender.shutdown(socket.SHUT_WR)


class _RequestCounter:
    """Find the requests of a connection, of which data may hold parts."""

    def __init__(self) -> None:
        self._rest = b""
        self._skip = 0

    def kinds(self, data: bytes) -> list[str]:
        """Return the kinds of the requests that begin in the next data."""
        if self._skip >= len(data):
            self._skip -= len(data)
            return []
        data = self._rest + data[self._skip :]
        kinds, position = [], 0
        while position + _HEADER.size <= len(data):
            length, kind = _HEADER.unpack_from(data, position)
            kinds.append(_REQUESTS.get(kind, str(kind)))
            position += 4 + length
        self._rest, self._skip = data[position:], max(0, position - len(data))
        return kinds


def _start(work: Callable[..., None], *args: object) -> None:
    threading.Thread(target=work, args=args, daemon=True).start()


def _serve(port: int, target: int, control: Connection) -> None:
    proxy = _Proxy(target)
    # Reused at once when a bench follows another one
    server = socket.create_server(("127.0.0.1", port), backlog=128)
    _start(proxy.accept, server)
    control.send(True)
    with suppress(EOFError):
        while True:
            delay_s = control.recv()
            if delay_s is None:
                control.send(proxy.take_traffic())
            else:
                proxy.delay_s = delay_s
                control.send(True)
