"""Catalogs: how topics appear as tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping


class Catalog(ABC):
    """A catalog of tables.

    Args:
        options: The catalog's options, by name.
    """

    @abstractmethod
    def __init__(self, options: Mapping[str, str]) -> None: ...

    @abstractmethod
    def list_tables(self) -> list[str]:
        """The names of all tables, sorted."""
