"""Ids of tables."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from millrace.table_names import join_names, split_names

MOST_PARTS = 3
_EXPECTED = "expected the id of a table, as table, schema.table or namespace.schema.table"


@dataclass(frozen=True, order=True)
class TableId:
    """The id of a table: one to three parts, of which the last is its name.

    Attributes:
        namespace: The first of three parts, such as a database of PostgreSQL; None where there are fewer.
        schema: The part before the name, such as a database of MySQL or a schema of PostgreSQL; None for a mere name.
        table: The name, such as that of a topic.
    """

    namespace: str | None
    schema: str | None
    table: str

    @classmethod
    def of(cls, *parts: str) -> TableId:
        """Make an id of its parts.

        Raises:
            ValueError: There are not one to three, or one is empty.
        """
        if not 1 <= len(parts) <= MOST_PARTS or not all(parts):
            raise ValueError(f"{_EXPECTED}; got {parts}")
        namespace, schema, table = (None,) * (MOST_PARTS - len(parts)) + parts
        return cls(namespace, schema, str(table))

    @classmethod
    def parse(cls, text: str) -> TableId:
        """Parse an id such as ``orders`` or ``shop.orders``; a name with dots stands between backticks.

        Raises:
            ValueError: It is none.
        """
        try:
            parts = split_names(text.strip())
        except ValueError as error:
            raise ValueError(f"{_EXPECTED}: {error}") from error
        if len(parts) > MOST_PARTS:
            raise ValueError(f"{_EXPECTED}, not one of {len(parts)} parts")
        return cls.of(*parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that the id has: database, schema and table, or fewer."""
        return tuple(part for part in (self.namespace, self.schema, self.table) if part is not None)

    @property
    def plain(self) -> str:
        """The parts joined by dots, as patterns of routes and names of topics have them."""
        return ".".join(self.parts)

    def __str__(self) -> str:
        return join_names(self.parts)


# Each change of a micro-batch names one of a pipeline's few thousand tables
@functools.lru_cache(maxsize=16_384)
def table_id(text: str) -> TableId:
    """Return the id of a table of a message.

    Raises:
        ValueError: It is none.
    """
    return TableId.parse(text)


def topic_table(topic: str) -> str:
    """Return the id of the table that is named as its topic: of one part where the topic is no id of a table."""
    parts = topic.split(".")
    return topic if len(parts) <= MOST_PARTS and all(parts) else join_names([topic])
