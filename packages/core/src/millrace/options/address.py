"""How network addresses are written in options."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^\s:\[\]]+)(?::(\d{1,5}))?")


def parse_address(text: str) -> str:
    """An address as ``host``, ``host:port``, ``[::1]:port``, or nothing.

    Raises:
        ValueError: It is none of these.
    """
    if text:
        split_address(text)
    return text


def parse_port_address(text: str) -> str:
    """An address as ``host:port``.

    Raises:
        ValueError: It is none.
    """
    host, port = split_address(text)
    if not port:
        raise ValueError("expected an address as host:port")
    return f"{host}:{port}"


def split_address(text: str) -> tuple[str, int]:
    """Host and port of an address; port 0, for any free one, when it has none.

    Raises:
        ValueError: It is no address.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[2] or 0) > 65535:
        raise ValueError("expected an address as host or host:port")
    return match[1].strip("[]"), int(match[2] or 0)
