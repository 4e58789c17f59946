"""How the columns of a topic's table are made of its messages, as plain data that travels to executors."""

from __future__ import annotations

from dataclasses import dataclass

from millrace_catalog.inference.options import JsonInferenceOptions


@dataclass(frozen=True)
class Layout:
    """What of a table does not change.

    Attributes:
        topic: Its topic, which is its id as well.
        json: How keys and values are inferred.
        key_prefix: What the names of key columns begin with.
        value_prefix: What the names of value columns begin with.
        key_field: The name, behind the prefix, of the one column of keys that are no JSON objects.
        metadata: The names of the columns of metadata.
        is_upsert: Whether the columns of the key are the primary key.
        max_columns: How many columns it may have.
        is_static: Whether it keeps its columns.
    """

    topic: str
    json: JsonInferenceOptions
    key_prefix: str
    value_prefix: str
    key_field: str
    metadata: tuple[str, ...]
    is_upsert: bool
    max_columns: int
    is_static: bool = False
