"""A proxy in front of a broker that takes single requests out, and delivers them later."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from millrace_broker import KafkaBroker, Listener
from millrace_broker.listeners import free_ports
from support.waiting import PATIENCE_S

KINDS = {
    0: "Produce",
    22: "InitProducerId",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    28: "TxnOffsetCommit",
}
"""Kafka's names of the requests of a transactional producer, by their numbers."""

TAKE_OVER = "InitProducerId"

_LENGTH = struct.Struct(">i")
_KIND = struct.Struct(">h")


@dataclass
class LateRequest:
    """A request that the proxy has taken out, whose client has lost its connection.

    Attributes:
        kind: Kafka's name of its kind.
    """

    kind: str
    _frame: bytes = b""
    _broker: socket.socket | None = None
    _is_taken: threading.Event = field(default_factory=threading.Event)
    _is_answered: threading.Event = field(default_factory=threading.Event)

    def wait(self, timeout_s: float = PATIENCE_S) -> None:
        """Wait until a client has sent it."""
        assert self._is_taken.wait(timeout_s), f"no {self.kind} came"

    @property
    def is_taken(self) -> bool:
        """True if a client has sent it."""
        return self._is_taken.is_set()

    def deliver(self) -> None:
        """Hand it to the broker on the connection that it came by, and wait for the answer."""
        broker, self._broker = self._broker, None
        assert broker is not None, f"no {self.kind} to deliver"
        with suppress(OSError):
            broker.sendall(self._frame)
            self._is_answered.wait(PATIENCE_S)
            broker.shutdown(socket.SHUT_RDWR)

    def _take(self, frame: bytes, broker: socket.socket) -> None:
        self._frame, self._broker = frame, broker
        self._is_taken.set()


class LateRequestProxy:
    """A proxy for one broker, on a loopback port; its threads end with its sockets.

    Args:
        port: The port that clients connect to.
        target: The port of the broker's listener that they reach, which advertises the other one.
    """

    def __init__(self, port: int, target: int) -> None:
        self.servers = f"127.0.0.1:{port}"
        self.counts: Counter[str] = Counter()
        self._target = target
        self._server = socket.create_server(("127.0.0.1", port), backlog=128)
        self._lock = threading.Lock()
        self._expected: list[LateRequest] = []
        self._due: list[tuple[str, LateRequest]] = []
        self._choose: Callable[[str], LateRequest | None] = lambda _: None

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def take_next(self, kind: str) -> LateRequest:
        """Take the next request of a kind out, and break its client's connection."""
        request = LateRequest(kind)
        with self._lock:
            self._expected.append(request)
        return request

    def deliver_before(self, kind: str, late: LateRequest) -> None:
        """Deliver a late request right before the next one of a kind that comes after it."""
        self._due.append((kind, late))

    @contextmanager
    def take_some(
        self, seed: int, part: float, *, spared: Collection[str] = (TAKE_OVER,), deliver_after: int = 40
    ) -> Iterator[list[str]]:
        """Take some requests out by chance, and deliver each after some that follow it, or at the end.

        Args:
            seed: The seed of the chance.
            part: The part of the requests to take out.
            spared: Kinds of requests that are left alone; by default those that take a transactional id over, since
                brokers cannot tell a late one from a new producer.
            deliver_after: The most requests after which one is delivered.

        Yields:
            The kinds of the requests so far.
        """
        chance, taken, under_way = random.Random(seed), [], []

        def choose(kind: str) -> LateRequest | None:
            for due in [each for each in under_way if each[0] <= sum(self.counts.values()) and each[1].is_taken]:
                under_way.remove(due)
                threading.Thread(target=due[1].deliver, daemon=True).start()
            if kind in spared or chance.random() >= part:
                return None
            request = LateRequest(kind)
            taken.append(kind)
            under_way.append((sum(self.counts.values()) + chance.randrange(1, deliver_after), request))
            return request

        self._choose = choose
        try:
            yield taken
        finally:
            with self._lock:
                self._choose = lambda _: None
            for _, request in under_way:
                if request.is_taken:
                    request.deliver()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                broker = socket.create_connection(("127.0.0.1", self._target))
                for each in (client, broker):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                late: list[LateRequest] = []
                threading.Thread(target=self._forward_requests, args=(client, broker, late), daemon=True).start()
                threading.Thread(target=_forward_answers, args=(broker, client, late), daemon=True).start()

    def _forward_requests(self, client: socket.socket, broker: socket.socket, late: list[LateRequest]) -> None:
        with suppress(OSError):
            while frame := _receive_frame(client):
                request = self._request(KINDS.get(_KIND.unpack_from(frame, _LENGTH.size)[0], ""))
                if request is not None:
                    # The connection to the broker stays, as that of a request which is still on its way
                    late.append(request)
                    client.shutdown(socket.SHUT_RDWR)
                    request._take(frame, broker)
                    return
                broker.sendall(frame)
        with suppress(OSError):
            broker.shutdown(socket.SHUT_WR)

    def _request(self, kind: str) -> LateRequest | None:
        if not kind:
            return None
        for due in [each for each in self._due if each[0] == kind and each[1].is_taken]:
            self._due.remove(due)
            due[1].deliver()
        with self._lock:
            self.counts[kind] += 1
            found = next((each for each in self._expected if each.kind == kind), None)
            if found is not None:
                self._expected.remove(found)
                return found
            return self._choose(kind)


@contextmanager
def broker_behind_proxy(**settings: object) -> Iterator[tuple[KafkaBroker, LateRequestProxy]]:
    """A broker, and the proxy by which clients reach its second listener."""
    near_port, far_port, proxy_port = free_ports(3)
    near, far = Listener("PLAINTEXT", port=near_port), Listener("FAR", port=far_port)
    told = f"PLAINTEXT://{near.address},FAR://{far.with_port(proxy_port).address}"
    broker = KafkaBroker(properties={"advertised.listeners": told}, listeners=[near, far], **settings)
    with broker, LateRequestProxy(proxy_port, far_port) as proxy:
        yield broker, proxy


def _forward_answers(broker: socket.socket, client: socket.socket, late: list[LateRequest]) -> None:
    with suppress(OSError), broker, client:
        while frame := _receive_frame(broker):
            if not late:
                client.sendall(frame)
            elif late[0]._broker is None:
                late[0]._is_answered.set()
        client.shutdown(socket.SHUT_RDWR)


def _receive_frame(connection: socket.socket) -> bytes:
    """Receive a request or an answer with its length; empty at the end of the connection."""
    head = _receive(connection, _LENGTH.size)
    return head + _receive(connection, _LENGTH.unpack(head)[0]) if head else b""


def _receive(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            return b""
        data += more
    return bytes(data)
