"""What comes out of a store, and what can be wrong with one."""

from __future__ import annotations

from dataclasses import dataclass, field


class StoreError(ValueError):
    """A store cannot be read; the message shows nothing of its contents."""


class StorePasswordError(StoreError):
    """The password of a store is missing or wrong."""


class KeyPasswordError(StoreError):
    """The password of a key in a store is missing or wrong."""


@dataclass(frozen=True)
class Store:
    """The contents of a store, as PEM; empty where there is nothing.

    Attributes:
        trusted: The certificates to trust.
        key: The first private key; encrypted only where it came so in PEM.
        chain: The certificate of that key, and those that lead from it to its authority.
    """

    trusted: str = ""
    key: str = field(default="", repr=False)
    chain: str = ""
