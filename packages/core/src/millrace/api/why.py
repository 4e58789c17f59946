"""Find out why a query returns no rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.configuration.build import configure_source
from millrace.errors import OptionsError
from millrace.idle.model import Cause, CauseKind, WhyIdle
from millrace.idle.query import causes_of_query, position_of
from millrace.idle.topics import causes_of_topics
from millrace.plans.checkpoint import read_checkpoint
from millrace.spark.options import connector_options

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

    from millrace.checkpoint import StreamOffset
    from millrace.configuration import SourceConfig

_ENDED = {CauseKind.FAILED, CauseKind.STOPPED}


def why(
    query: StreamingQuery | None = None,
    *,
    options: Mapping[str, str] | None = None,
    checkpoint: str | None = None,
) -> WhyIdle:
    """Return why a query returns no rows, or no new rows, like ``millrace why``.

    A query of this process reports its failure, limits, filters and open transactions. With the options of its read,
    the topics, their open transactions and the consumer group are examined, too. For a query of another process, give
    its checkpoint. Nothing is written or committed, and no group is joined.

    Args:
        query: A streaming query of this process.
        options: The options of its read. If the query has several sources, the options of one of them.
        checkpoint: The folder of its checkpoint, instead of ``query``.

    Returns:
        The causes, the most important first. It can be printed.

    Raises:
        OptionsError: Neither a query nor options are given, or an option is wrong.
    """
    if query is None and options is None:
        raise OptionsError("why", ("give the query, or the options of its read",))
    causes = [] if query is None else causes_of_query(query)
    if options is not None and not any(cause.kind in _ENDED for cause in causes):
        config = configure_source(connector_options(options))
        position = _position(config, checkpoint) if query is None else position_of(query)
        causes = _merged(causes, causes_of_topics(config, position))
    if not causes:
        causes = [Cause(CauseKind.NO_NEW_OFFSETS, "the query had read all that there was when it last looked")]
    return WhyIdle(tuple(causes))


def _position(config: SourceConfig, checkpoint: str | None) -> StreamOffset | None:
    state = read_checkpoint(checkpoint, config.options) if checkpoint else None
    return None if state is None else state.start


def _merged(of_query: list[Cause], of_topics: list[Cause]) -> list[Cause]:
    """Put causes together: what only the query knows comes first, what topics show explains the rest."""
    if of_topics[0].kind is CauseKind.UNREACHABLE:
        # What the query knows is older
        return of_topics
    seen = {cause.kind for cause in of_topics}
    # The brokers have just answered
    outdated = (CauseKind.STARTING, CauseKind.UNREACHABLE, CauseKind.BEHIND)
    own = [cause for cause in of_query if cause.kind not in (*seen, *outdated)]
    # That something is unread is explained by the limit that the query tells
    others = [cause for cause in of_topics if not (own and cause.kind in (CauseKind.BEHIND, CauseKind.NO_NEW_OFFSETS))]
    return [*own, *others] or of_query
