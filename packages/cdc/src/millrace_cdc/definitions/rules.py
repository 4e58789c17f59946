"""Rules of a pipeline: routes and transforms, as its file has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from millrace.options import option
from millrace.options.values import parse_names
from millrace_cdc.errors import DocumentPosition


def parse_replace_symbol(text: str) -> str:
    """Check the text that stands for a table's name.

    Raises:
        ValueError: It is empty.
    """
    if not text:
        raise ValueError("expected a text that stands for the table's name in sink-table, such as <>")
    return text


def parse_column_names(text: str) -> tuple[str, ...]:
    """Parse a list of columns such as ``id, name``; a name may stand between backticks.

    Raises:
        ValueError: A name is empty or repeated.
    """
    names = parse_names(text, "names of columns", "column", separator=",")
    return tuple(name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name for name in names)


def parse_table_options(text: str) -> tuple[tuple[str, str], ...]:
    """Parse options of a table such as ``bucket=4,comment=web order``.

    Raises:
        ValueError: A part is no pair, or a key is repeated.
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(key.strip() and sign for key, sign, _ in pairs):
        raise ValueError("expected pairs such as key1=value1,key2=value2")
    options = {key.strip(): value.strip() for key, _, value in pairs}
    if len(options) < len(pairs):
        raise ValueError("expected each key once")
    return tuple(options.items())


@dataclass(frozen=True, kw_only=True)
class PlacedRule:
    """A rule whose keys have places in a file."""

    places: Callable[[str, int], DocumentPosition] | None = field(default=None, compare=False, repr=False)

    def position(self, key: str, offset: int = 0) -> DocumentPosition | None:
        """Return the place of a character of a key's value; None for a rule that comes from no file."""
        return None if self.places is None else self.places(key, offset)


@dataclass(frozen=True, kw_only=True)
class RouteRule(PlacedRule):
    """A rule of ``route``: the changes of some tables go to another one."""

    source_table: str = option(
        "source-table",
        doc=r"The tables that the rule applies to: ids, or regular expressions in which '.' divides the parts of an id "
        r"and '\.' is any character; several are separated by ','. They are compared with the whole id, as db.orders.",
    )
    sink_table: str = option(
        "sink-table",
        doc="The id of the sink's table. $1 is the first group that source-table has matched.",
    )
    replace_symbol: str | None = option(
        "replace-symbol",
        default=None,
        parse=parse_replace_symbol,
        doc="A text in sink-table, such as <>, that is replaced with the name of the source's table.",
    )
    description: str | None = option("description", default=None, doc="A description for readers of the file.")


@dataclass(frozen=True, kw_only=True)
class TransformRule(PlacedRule):
    """A rule of ``transform``: columns, rows and keys of some tables."""

    source_table: str = option(
        "source-table",
        doc=r"The tables that the rule applies to: ids, or regular expressions in which '.' divides the parts of an id "
        r"and '\.' is any character; several are separated by ','. They are compared part by part, in any case.",
    )
    projection: str | None = option(
        "projection",
        default=None,
        doc=r"The columns, like a SELECT list: * for all (written \* at the beginning of a YAML value), names, "
        "and expressions AS names. By default all.",
    )
    filter: str | None = option(
        "filter", default=None, doc="The condition that rows must meet, like a WHERE clause. By default none."
    )
    primary_keys: tuple[str, ...] = option(
        "primary-keys",
        default=(),
        parse=parse_column_names,
        doc="The columns of the primary key, separated by ','. By default those of the source's table.",
    )
    partition_keys: tuple[str, ...] = option(
        "partition-keys",
        default=(),
        parse=parse_column_names,
        doc="The columns that divide the sink's table into partitions, separated by ','.",
    )
    table_options: tuple[tuple[str, str], ...] = option(
        "table-options",
        default=(),
        parse=parse_table_options,
        doc="Options of the tables that the sink creates, as key1=value1,key2=value2.",
    )
    converter: Literal["SOFT_DELETE"] | None = option(
        "converter-after-transform",
        default=None,
        doc="SOFT_DELETE turns each deleted row into an inserted one; a column __data_event_type__ AS op_type "
        "distinguishes them.",
    )
    description: str | None = option("description", default=None, doc="A description for readers of the file.")


def rules_digest(routes: Iterable[RouteRule], transforms: Iterable[TransformRule], *settings: object) -> str:
    """Return a text that differs wherever rules make other tables of the sink.

    Args:
        routes: The routes, in order.
        transforms: The transforms, in order.
        settings: Other values that the sink's tables depend on; their texts are compared.
    """
    content = [list(map(_content, routes)), list(map(_content, transforms)), list(map(str, settings))]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _content(rule: RouteRule | TransformRule) -> dict[str, Any]:
    """Return the values of a rule, without the words for people."""
    return {
        field.name: getattr(rule, field.name) for field in fields(rule) if field.compare and field.name != "description"
    }
