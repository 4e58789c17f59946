"""The columns of a read for which the user gave none, where its messages tell them."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.contracts import SampledMessage, SchemaInference
from millrace.errors import SchemaError
from millrace.kafka.admin import KafkaAdmin
from millrace.plugins.manager import PluginRef
from millrace.records.messages import Messages
from millrace.sampling.newest import newest_messages
from millrace.source.enumerator.subscriber import selection_of
from millrace.source.reader.header_filter import keep


def inferred_columns(config: SourceConfig, inference: PluginRef) -> pa.Schema:
    """The columns of values, by the newest messages of every partition that is read.

    Raises:
        SchemaError: There are no messages that tell any, or they cannot be read together.
        MessageError: A message is malformed.
        UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
    """
    sampled, options = _sampled(config), config.options
    made: SchemaInference = inference.create()
    found = made.infer(sampled, options.max_inferred_columns, skip_malformed=options.ignore_errors)
    if not len(found):
        raise SchemaError(
            f"the columns of format {inference.name!r} are inferred from messages, and there are none that tell any in "
            f"{_named(sampled)}: write some, or give the columns with .schema('id BIGINT, name STRING, ...')"
        )
    return found


def _sampled(config: SourceConfig) -> dict[str, list[SampledMessage]]:
    """By topic, the newest messages of each of its partitions that would be read."""
    cluster = KafkaAdmin(config.client)
    partitions = selection_of(config.options).find(cluster, ()).partitions
    header_filter = None if config.header_filter is None else config.header_filter.create()
    sampled: dict[str, list[SampledMessage]] = {}
    for at, found in newest_messages(config.client, cluster, partitions, config.options.sampled_messages).items():
        kept = keep(header_filter, Messages(at, found)) if found else Messages(at, found)
        of_topic = sampled.setdefault(at.topic, [])
        of_topic += [SampledMessage(at.partition, each.offset(), each.key(), each.value()) for each in kept.items]
    return sampled


def _named(topics: Collection[str]) -> str:
    return f"topic {', '.join(map(repr, topics))}" if topics else "the topics that are chosen"
