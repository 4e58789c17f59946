"""Validate the options of malformed messages against each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from millrace.options.connector import SourceOptions
from millrace.options.values import topic_matcher
from millrace.plugins.manager import PluginRef

_IGNORE_ERRORS = "ingestion.ignore-errors"
_MAX_COUNT = "ingestion.error-tolerance.max-count"
_COLLECTOR = "dirty-data.collector"
_MAX_RATIO = "dirty-data.max-ratio"
_MAX_CONSECUTIVE = "dirty-data.max-consecutive"


def error_tolerance_warnings(options: SourceOptions, user_options: Collection[str]) -> Iterator[str]:
    """Yield a sentence for a limit that has no effect, since no malformed message is tolerated, as in the reference.

    Args:
        options: The options of the source.
        user_options: The names of all options that the user has given, in lower case.
    """
    if not options.ignore_errors and _MAX_COUNT in user_options:
        yield (
            f"option {_MAX_COUNT!r} has no effect without {_IGNORE_ERRORS!r} = 'true': the first malformed message "
            f"ends the query"
        )


def error_tolerance_problems(options: SourceOptions) -> Iterator[str]:
    """Yield one sentence for each option that lacks another one or contradicts it.

    Args:
        options: The options of the source.
    """
    if not options.ignore_errors:
        requires_tolerance = {
            _COLLECTOR: options.dirty_collector,
            _MAX_RATIO: options.max_error_ratio,
            _MAX_CONSECUTIVE: options.max_consecutive_errors,
        }
        for name, value in requires_tolerance.items():
            if value is not None:
                yield (
                    f"option {name!r} requires {_IGNORE_ERRORS!r} = 'true'; otherwise a malformed message ends the "
                    f"query"
                )
        return
    if options.value_format is None:
        yield f"option {_IGNORE_ERRORS!r} requires 'value.format'; without a format no message is malformed"
    limits = {
        _MAX_COUNT: options.max_errors >= 0,
        _MAX_RATIO: options.max_error_ratio is not None,
        _MAX_CONSECUTIVE: options.max_consecutive_errors is not None,
    }
    for name, is_set in limits.items():
        if is_set and not options.metrics_address:
            yield (
                f"option {name!r}: the tasks of a stream count together through the driver; remove "
                f"'scan.metrics.address', or set it to an address of the driver"
            )


def dead_letter_topic_problems(options: SourceOptions, collector: PluginRef | None) -> Iterator[str]:
    """Yield one sentence for each topic of the dead letter collector that is read.

    Args:
        options: The options of the source.
        collector: The collector; None without one.
    """
    topics = {} if collector is None else collector.create().topics
    if not isinstance(topics, Mapping):
        yield (
            f"option {_COLLECTOR!r}: the property 'topics' of {options.dirty_collector!r} must map topics to the "
            f"options that name them; it is {topics!r}"
        )
        return
    for topic, option in topics.items():
        if _reads(options, topic):
            yield f"option '{_COLLECTOR}.{option}': {topic!r} is among the topics that are read; give another one"


def _reads(options: SourceOptions, topic: str) -> bool:
    if topic in options.topics or topic in {name for name, _ in options.partitions}:
        return True
    return options.topic_pattern is not None and topic_matcher(options.topic_pattern)(topic)
