"""Topics that a query reads and writes, as tools of lineage know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TopicDataset:
    """A topic as a dataset.

    Attributes:
        servers: The bootstrap servers of its cluster, as the user gave them.
        topic: Its name.
        columns: The types of the columns that the query reads or writes, by name, as Spark writes types.
    """

    servers: str
    topic: str
    columns: Mapping[str, str] = field(default_factory=dict)
