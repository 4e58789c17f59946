"""Divide rows among topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError, OptionsError, SchemaError, UnknownTopicError
from millrace.options.connector import SinkOptions
from millrace.options.values import topic_matcher


class TopicRows(NamedTuple):
    """The rows of a batch that go to one topic.

    Attributes:
        topic: The topic.
        indices: The rows' indices, in their order; None for all rows.
    """

    topic: str
    indices: pa.Array | None = None

    def take_from(self, rows: Any) -> Any:
        """Select these rows from the batch, or their values from an array of it."""
        return rows if self.indices is None else rows.take(self.indices)


TopicRouter = Callable[[pa.RecordBatch], Iterable[TopicRows]]


def topic_router(options: SinkOptions, column: str | None, *, has_format: bool) -> TopicRouter:
    """Choose how rows are divided among topics.

    Args:
        options: Name the permitted topics; without any, all are.
        column: The column that names each row's topic; None when there is none.
        has_format: Whether such a column must be named in the option ``metadata.columns``.

    Raises:
        SchemaError: A column has to choose among several topics, and there is none.
        OptionsError: There is neither a topic nor such a column.
    """
    if column is not None:
        return TopicColumn(column, *_permitted_topics(options)).route
    if len(options.topics) == 1:
        all_rows = (TopicRows(options.topics[0]),)
        return lambda _: all_rows
    add = "add a STRING column" + (" and name it in 'metadata.columns', as topic AS target" if has_format else " topic")
    if options.topics or options.topic_pattern is not None:
        option = "'topic' names several topics" if options.topics else "'topic-pattern' permits several topics"
        raise SchemaError(f"option {option}, so that a column must choose for each row: {add}")
    raise OptionsError("sink", (f"option 'topic' is required, such as 'orders'; for a topic of each row's own {add}",))


def check_pattern_matches(pattern: str, topics: Collection[str]) -> None:
    """Refuse a topic pattern that matches no topic.

    Args:
        pattern: The option ``topic-pattern``.
        topics: All topics of the cluster.

    Raises:
        UnknownTopicError: No topic matches.
    """
    if not any(map(topic_matcher(pattern), topics)):
        visible = [topic for topic in topics if not topic.startswith("__")]
        listed = ", ".join(visible[:10]) or "none"
        more = f" and {len(visible) - 10} more" if len(visible) > 10 else ""
        raise UnknownTopicError(
            f"no topic matches {pattern!r} (option 'topic-pattern'). Topics there: {listed}{more}. Create one first, "
            f"or check that this client may see it"
        )


def _permitted_topics(options: SinkOptions) -> tuple[Callable[[str], bool], str]:
    if options.topics:
        return frozenset(options.topics).__contains__, f"option 'topic' permits {', '.join(map(repr, options.topics))}"
    if options.topic_pattern is not None:
        matches = topic_matcher(options.topic_pattern)
        return matches, f"option 'topic-pattern' permits topics that match {options.topic_pattern!r}"
    return bool, "any topic of the cluster is permitted, since the option 'topic' is not given"


@dataclass(frozen=True)
class TopicColumn:
    """A column that names each row's topic.

    Attributes:
        column: Its name.
        permits: Tells whether rows may go to a topic.
        permitted: A description of those topics, for errors.
    """

    column: str
    permits: Callable[[str], bool]
    permitted: str

    def route(self, rows: pa.RecordBatch) -> Iterator[TopicRows]:
        """Divide rows by the topics that they name.

        Raises:
            MessageError: A row names no topic, or one that is not permitted.
        """
        encoded = self._dictionary_encode(rows)
        topics, codes = encoded.dictionary.to_pylist(), encoded.indices
        if len(topics) == 1:
            yield TopicRows(topics[0])
            return
        sorted_indices = pc.array_sort_indices(codes)
        ends = np.cumsum(np.bincount(codes.to_numpy(), minlength=len(topics))).tolist()
        for topic, start, end in zip(topics, [0, *ends], ends, strict=False):
            yield TopicRows(topic, sorted_indices.slice(start, end - start))

    def _dictionary_encode(self, rows: pa.RecordBatch) -> pa.DictionaryArray:
        names = rows.column(self.column).cast(pa.string())
        if names.null_count:
            raise MessageError(f"a row has no topic: its column {self.column!r} is NULL; {self.permitted}")
        encoded = names.dictionary_encode()
        for topic in encoded.dictionary.to_pylist():
            if not self.permits(topic):
                raise MessageError(
                    f"a row cannot go to topic {topic!r}, which its column {self.column!r} names: {self.permitted}"
                )
        return encoded
