"""Ids of tables."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_PARTS = 3


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
        if not 1 <= len(parts) <= _MOST_PARTS or not all(parts):
            raise ValueError(
                f"expected the id of a table, as table, schema.table or namespace.schema.table; got {parts}"
            )
        namespace, schema, table = (None,) * (_MOST_PARTS - len(parts)) + parts
        return cls(namespace, schema, str(table))

    @classmethod
    def parse(cls, text: str) -> TableId:
        """Parse an id such as ``orders`` or ``shop.orders``.

        Raises:
            ValueError: It is none.
        """
        parts = text.strip().split(".")
        if len(parts) > _MOST_PARTS or not all(parts):
            raise ValueError("expected the id of a table, as table, schema.table or namespace.schema.table")
        return cls.of(*parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts, those that it has."""
        return tuple(part for part in (self.namespace, self.schema, self.table) if part is not None)

    def __str__(self) -> str:
        return ".".join(self.parts)
