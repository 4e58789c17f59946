"""Validate options of writes that need others: delivery guarantee, creation of topics, metrics."""

from __future__ import annotations

from collections.abc import Iterator

from millrace.options.connector import SinkOptions


def sink_problems(options: SinkOptions) -> Iterator[str]:
    """Yield one sentence for each option of the sink that lacks another one or has no effect without it."""
    yield from _delivery_guarantee_problems(options)
    yield from _topic_creation_problems(options)
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
