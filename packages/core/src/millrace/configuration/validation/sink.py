"""Validate options of writes that need others: delivery guarantee, creation of topics, metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.options.connector import SinkOptions


def sink_problems(options: SinkOptions, user_options: Collection[str]) -> Iterator[str]:
    """Yield one sentence for each option of the sink that lacks another one or has no effect without it.

    Args:
        options: The options of the sink.
        user_options: The names of all options that the user has given, in lower case.
    """
    yield from _delivery_guarantee_problems(options)
    yield from _topic_creation_problems(options)
    yield from _upsert_problems(options, user_options)
    if (options.metrics_address is None) != (options.metrics_secret is None):
        yield (
            "options 'sink.metrics.address' and 'sink.metrics.secret' belong together: give both, as "
            "SinkMetricsCollector.options has them"
        )


def _delivery_guarantee_problems(options: SinkOptions) -> Iterator[str]:
    if options.is_exactly_once:
        if not options.transactional_id_prefix:
            yield (
                "option 'sink.transactional-id-prefix' is required with 'sink.delivery-guarantee' = 'exactly-once': "
                "give each query one of its own, such as 'orders-copy'"
            )
        if options.if_in_doubt == "compare" and not options.topics and options.topic_pattern is None:
            yield (
                "option 'sink.exactly-once.if-in-doubt' = 'compare' requires 'topic' or 'topic-pattern', which name "
                "the topics to compare with"
            )
        return
    is_set = {
        "sink.transactional-id-prefix": options.transactional_id_prefix is not None,
        "sink.exactly-once.if-in-doubt": options.if_in_doubt != SinkOptions().if_in_doubt,
        "sink.exactly-once.compare-by": options.compare_by != SinkOptions().compare_by,
    }
    for name in filter(is_set.get, is_set):
        yield f"option {name!r} requires 'sink.delivery-guarantee' = 'exactly-once'"


def _topic_creation_problems(options: SinkOptions) -> Iterator[str]:
    if options.creates_topics:
        if not options.topics:
            yield "option 'sink.topic.create' requires 'topic', which names the topics to create"
        return
    settings = {
        "sink.topic.create.partitions": options.created_partitions,
        "sink.topic.create.replication-factor": options.created_replication_factor,
    }
    for name, number in settings.items():
        if number is not None:
            yield f"option {name!r} requires 'sink.topic.create' = 'true'"


def _upsert_problems(options: SinkOptions, user_options: Collection[str]) -> Iterator[str]:
    limits = {
        "sink.buffer-flush.max-rows": options.buffer_max_rows,
        "sink.buffer-flush.interval": options.buffer_interval_ms,
    }
    if not options.is_upsert:
        for name in filter(limits.get, limits):
            yield (
                f"option {name!r} requires 'connector' = 'upsert-kafka'; else every row is written, and "
                f"'properties.linger.ms' decides when"
            )
        return
    if "sink.partitioner" in user_options:
        yield (
            "option 'sink.partitioner' cannot be used with 'connector' = 'upsert-kafka': the key of a record decides "
            "its partition, so that the changes of a key stay in order"
        )
    if any(limits.values()) and not options.is_buffered:
        yield (
            "options 'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' belong together: set both above 0, "
            f"or neither; they are {options.buffer_max_rows} and {options.buffer_interval_ms} ms"
        )
    if options.is_buffered and options.if_in_doubt == "compare":
        yield (
            "option 'sink.exactly-once.if-in-doubt' = 'compare' requires a write without a buffer, since another "
            "division of rows leaves out other changes: drop 'sink.buffer-flush.max-rows' and "
            "'sink.buffer-flush.interval' for this start"
        )
