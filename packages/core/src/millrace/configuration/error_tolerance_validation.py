"""Options of malformed messages, checked against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.options.connector import SourceOptions
from millrace.options.topics import topic_matcher

_TOLERANT = "ingestion.ignore-errors"
_MAX_COUNT = "ingestion.error-tolerance.max-count"
_COLLECTOR = "dirty-data.collector"
_TOPIC = "dirty-data.collector.topic"


def problems_of_dirty_data(options: SourceOptions, given: Collection[str]) -> Iterator[str]:
    """What is wrong, a sentence each.

    Args:
        options: The options of the source.
        given: The names of all options that the user has given, in lower case.
    """
    if not options.ignore_errors:
        meant = {
            _MAX_COUNT: _MAX_COUNT in given,
            _COLLECTOR: options.dirty_collector is not None,
            _TOPIC: options.dead_letter_topic is not None,
        }
        for name, is_given in meant.items():
            if is_given:
                yield f"option {name!r}: it is for {_TOLERANT!r} = true; otherwise a malformed message ends the query"
        return
    if options.value_format is None:
        yield f"option {_TOLERANT!r}: without a format no message is malformed; give 'value.format'"
    if options.max_errors >= 0 and not options.metrics_address:
        yield (
            f"option {_MAX_COUNT!r}: a stream's tasks count together by way of the driver; leave out "
            f"'scan.metrics.address', or give an address of the driver"
        )
    yield from _problems_of_collector(options)


def _problems_of_collector(options: SourceOptions) -> Iterator[str]:
    topic, writes = options.dead_letter_topic, options.dirty_collector == "topic"
    if writes and topic is None:
        yield f"option {_COLLECTOR!r} = topic: it needs {_TOPIC!r}, where malformed messages are to be written"
    if topic is not None and not writes:
        yield f"option {_TOPIC!r}: it is for {_COLLECTOR!r} = topic"
    if topic is not None and _reads(options, topic):
        yield f"option {_TOPIC!r}: {topic!r} is among the topics that are read; give another one"


def _reads(options: SourceOptions, topic: str) -> bool:
    if topic in options.topics or topic in {name for name, _ in options.partitions}:
        return True
    return options.topic_pattern is not None and topic_matcher(options.topic_pattern)(topic)
