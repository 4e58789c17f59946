"""A proxy that brings a broker some milliseconds away, and counts what clients ask of it."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Self

_CHUNK = 256 * 1024
_HEADER = struct.Struct(">ihh")
"""The beginning of a request: its length, its kind, and its version."""

_API_NAMES = {
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
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    28: "TxnOffsetCommit",
    32: "DescribeConfigs",
    36: "SaslAuthenticate",
    60: "DescribeCluster",
    65: "DescribeTransactions",
    66: "ListTransactions",
    75: "DescribeTopicPartitions",
}


@dataclass
class Traffic:
    """The traffic of clients since the last count.

    Attributes:
        connections: The number of connections that they opened.
        requests: The number of requests, by Kafka's name for their kind.
    """

    connections: int = 0
    requests: Counter[str] = field(default_factory=Counter)


class DelayedProxy:
    """A proxy in a process of its own, on a loopback port.

    Args:
        round_trip_ms: How long a request and its answer are on their way together.
        port: The port that clients connect to.
        target: The port that they reach.
    """

    def __init__(self, round_trip_ms: float, port: int, target: int) -> None:
        context = get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_serve, args=(round_trip_ms / 2_000, port, target, other), daemon=True
        )

    def __enter__(self) -> Self:
        self._process.start()
        self._connection.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def set_round_trip(self, milliseconds: float) -> None:
        """Change the distance, also of connections that are open."""
        self._connection.send(milliseconds / 2_000)
        self._connection.recv()

    def take_traffic(self) -> Traffic:
        """Return the traffic since the last call."""
        self._connection.send(None)
        traffic: Traffic = self._connection.recv()
        return traffic


class _Proxy:
    def __init__(self, delay_s: float, target: int) -> None:
        self.delay_s = delay_s
        self.traffic = Traffic()
        self._target = target

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.traffic.connections += 1
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target, limit=_CHUNK)
            counter = _RequestCounter()
            await asyncio.gather(self._copy(reader, far_writer, counter), self._copy(far_reader, writer, None))

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counter: _RequestCounter | None
    ) -> None:
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        delivery = loop.create_task(_deliver(under_way, writer))
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if counter is not None:
                    # The proxy's traffic is replaced whenever it is taken
                    counter.count(data, self.traffic)
                under_way.put_nowait((loop.time() + self.delay_s, data))
        under_way.put_nowait((loop.time() + self.delay_s, b""))
        await delivery


async def _deliver(under_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while True:
            due, data = await under_way.get()
            if (wait := due - loop.time()) > 0:
                await asyncio.sleep(wait)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    writer.close()


class _RequestCounter:
    """Count the requests of a connection, of which data may hold parts."""

    def __init__(self) -> None:
        self._rest = b""
        self._skip = 0

    def count(self, data: bytes, traffic: Traffic) -> None:
        position = min(self._skip, len(data))
        self._skip -= position
        data = self._rest + data[position:]
        self._rest = b""
        position = 0
        while position < len(data):
            if len(data) - position < _HEADER.size:
                self._rest = data[position:]
                return
            length, kind, _ = _HEADER.unpack_from(data, position)
            traffic.requests[_API_NAMES.get(kind, str(kind))] += 1
            position += 4 + length
        self._skip = position - len(data)


def _serve(delay_s: float, port: int, target: int, control: Connection) -> None:
    asyncio.run(_run(_Proxy(delay_s, target), port, control))


async def _run(proxy: _Proxy, port: int, control: Connection) -> None:
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(proxy.connect, "127.0.0.1", port, limit=_CHUNK)
    for each in server.sockets:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    control.send(True)

    def command() -> None:
        delay_s = control.recv()
        if delay_s is None:
            control.send(proxy.traffic)
            proxy.traffic = Traffic()
        else:
            proxy.delay_s = delay_s
            control.send(True)

    loop.add_reader(control.fileno(), command)
    await server.serve_forever()
