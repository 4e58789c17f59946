"""The properties by which a consumer fetches little or much at once, and ahead of its reader.

librdkafka has one fetch request to a broker under way, and sends the next one when its queue holds less than it should.
It knows no end of what is read. Where a range ends behind which the log goes on, what it has fetched ahead is dropped,
and the answer to a fetch that is under way. A consumer that fetches singly finds its queue full when a fetch has come,
and looks again only later than a reader takes to empty it, who asks for the next fetch by assigning the partition anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from millrace.options.secrets import Properties

_SIZE_NAMES = frozenset({"fetch.message.max.bytes", "max.partition.fetch.bytes"})
"""librdkafka's names for the size of a fetch from a partition."""

_MANY_AT_ONCE = {
    # 1 MB is read in less time than its fetch takes from brokers that are 10 ms away
    "fetch.message.max.bytes": "4194304",
    # What is read while the next fetch is under way, and no more: memory is taken in pieces as large as fetches
    "queued.max.messages.kbytes": "16384",
    "queued.min.messages": "50000",
}

# By bytes, since a number of messages would count all that is in the queue, such as log lines
_SINGLY = {"queued.max.messages.kbytes": "1", "fetch.queue.backoff.ms": "1000"}

# What has come of one partition keeps others from being fetched, of which nobody can tell whether they are under way
_BY_TURNS = {**_SINGLY, "fetch.queue.backoff.ms": "20"}

_AHEAD = {"queued.max.messages.kbytes": "4096"}
"""Each fetch is under way while the one before is read."""

_USERS_NAMES = frozenset({*_SIZE_NAMES, "fetch.max.bytes", *_SINGLY, *_AHEAD, "queued.min.messages"})
"""The properties by which a user decides how much is fetched."""


class _Choice(NamedTuple):
    """The way in which ranges of at most so many bytes are fetched.

    Attributes:
        most: The size of the largest range.
        fetch: The size of fetches.
        of_one: Properties for one range.
        of_several: Properties for several ranges.
    """

    most: float
    fetch: int
    of_one: Mapping[str, str]
    of_several: Mapping[str, str]


_CHOICES = (
    _Choice(256 << 10, 256 << 10, _SINGLY, _BY_TURNS),
    _Choice(2 << 20, 1 << 20, _SINGLY, _BY_TURNS),
    _Choice(8 << 20, 4 << 20, _SINGLY, _AHEAD),
    _Choice(float("inf"), 4 << 20, _AHEAD, _AHEAD),
)


class FetchSizes(NamedTuple):
    """The way in which a consumer fetches.

    Attributes:
        properties: Its properties.
        is_single: Whether it fetches again only when a partition is assigned anew.
    """

    properties: Properties
    is_single: bool = False


def many_at_once(client: Properties) -> Properties:
    """Return the properties of a consumer for ranges of many messages: it fetches more with each request.

    For few messages it would fetch too much, of a log that goes on behind them. The user's own size is left as it is.
    """
    return client if _SIZE_NAMES & client.keys() else Properties({**_MANY_AT_ONCE, **client})


def for_ranges(client: Properties, sizes: Sequence[float]) -> FetchSizes:
    """Return how to fetch ranges of a stream behind which their logs go on; the user's own sizes are left as they are.

    Args:
        client: The user's properties.
        sizes: About how many bytes the ranges have.
    """
    if _USERS_NAMES & client.keys():
        return FetchSizes(client)
    choice = next(choice for choice in _CHOICES if max(sizes) <= choice.most)
    queue = choice.of_one if len(sizes) == 1 else choice.of_several
    properties = {"fetch.message.max.bytes": str(choice.fetch), **queue, **client}
    return FetchSizes(Properties(properties), is_single=queue is _SINGLY)
