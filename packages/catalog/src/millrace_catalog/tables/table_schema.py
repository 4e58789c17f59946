"""The columns of a topic's table: those of keys, those of values, and what each message has beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from millrace.contracts.catalog import Part
from millrace.errors import SchemaError
from millrace_catalog.inference import InferredColumn, InferredKey, InferredTable
from millrace_catalog.tables.options import CatalogOptions
from millrace_catalog.types import BIGINT, INT, Column, timestamp_ltz, with_nullability

METADATA = (
    Column("partition", with_nullability(INT, False)),
    Column("offset", with_nullability(BIGINT, False)),
    Column("timestamp", timestamp_ltz(3)),
)
POSITION = ("partition", "offset")


@dataclass(frozen=True)
class ShapedColumn:
    """A column of the table.

    Attributes:
        column: Its name and type.
        part: Where it comes from.
        inferred: What it was inferred as, by its own name; None for metadata.
    """

    column: Column
    part: Part
    inferred: InferredColumn | None = None


@dataclass(frozen=True)
class Shape:
    """What a topic looks like as a table.

    Attributes:
        columns: Its columns: key, value, metadata.
        primary_key: The columns of its primary key.
        is_upsert: Whether a row replaces the earlier ones of the same key.
        key_is_json: Whether keys are read as JSON, else as bytes.
    """

    columns: tuple[ShapedColumn, ...]
    primary_key: tuple[str, ...]
    is_upsert: bool
    key_is_json: bool

    def names_of(self, part: Part) -> tuple[str, ...]:
        """The names of the columns of a part."""
        return tuple(each.column.name for each in self.columns if each.part == part)


def shape(topic: str, key: InferredKey, value: InferredTable, options: CatalogOptions, *, is_upsert: bool) -> Shape:
    """Put the columns of a table together.

    Raises:
        SchemaError: Two of them would have the same name, or a key column one that cannot be written in options.
    """
    columns = (
        *_prefixed(key.columns, options.key_prefix, "key"),
        *_prefixed(value.columns, options.value_prefix, "value"),
        *(ShapedColumn(column, "metadata") for column in METADATA),
    )
    _check_names(topic, columns)
    keys = tuple(each.column.name for each in columns if each.part == "key")
    _check_key(topic, keys, is_upsert=is_upsert)
    return Shape(columns, keys if is_upsert else POSITION, is_upsert, key.is_json)


def check_key_names(topic: str, names: Iterable[str]) -> None:
    """Raise SchemaError for the name of a key column that cannot be written in options."""
    for name in names:
        if ";" in name or name != name.strip():
            raise SchemaError(f"topic {topic!r}: no option can name the key column {name!r}; read it with a schema")


def _prefixed(columns: tuple[InferredColumn, ...], prefix: str, part: Part) -> Iterator[ShapedColumn]:
    for each in columns:
        yield ShapedColumn(Column(prefix + each.name, each.type), part, each)


def _check_names(topic: str, columns: tuple[ShapedColumn, ...]) -> None:
    known: dict[str, Part] = {}
    for each in columns:
        # Spark tells no names apart that differ by case only, unless it is told to
        name = each.column.name.lower()
        other = known.setdefault(name, each.part)
        if other != each.part:
            raise SchemaError(
                f"topic {topic!r}: column {each.column.name!r} would be of {_named(other)} and of {_named(each.part)}; "
                f"give option 'value.fields-prefix', such as 'value_', or another 'key.fields-prefix'"
            )


def _named(part: Part) -> str:
    return {"key": "the key", "value": "the value", "metadata": "the metadata"}[part]


def _check_key(topic: str, names: tuple[str, ...], *, is_upsert: bool) -> None:
    check_key_names(topic, names)
    if is_upsert and not names:
        raise SchemaError(
            f"topic {topic!r}: an upsert table is keyed by its key columns, and no message that was looked at has a "
            f"key; leave out option 'infer-schema.compacted-topic-as-upsert-table'"
        )
