"""The transactional id prefixes that the queries of this program write with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.errors import OptionsError

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_PREFIX = "sink.transactional-id-prefix"

_queries: dict[tuple[str, str], StreamingQuery] = {}


def check_is_free(options: Mapping[str, str]) -> None:
    """Refuse a prefix that a running query of this program has.

    Queries with one prefix take the transactional ids from each other; those of other programs show themselves only
    then.

    Args:
        options: The sink's.

    Raises:
        OptionsError: A query has the prefix.
    """
    query = _queries.get(_key(options)) if _PREFIX in options else None
    if query is not None and query.isActive:
        problem = (
            f"option {_PREFIX!r}: query {query.id} of this program writes with {options[_PREFIX]!r} already; give each "
            "query a prefix of its own"
        )
        raise OptionsError("sink", (problem,))


def take(options: Mapping[str, str], query: StreamingQuery) -> None:
    """Note that a query writes with the prefix, if the options have one."""
    if _PREFIX in options:
        _queries[_key(options)] = query


def _key(options: Mapping[str, str]) -> tuple[str, str]:
    return options.get("properties.bootstrap.servers", ""), options[_PREFIX]
