"""The sentences that declare metrics, by the names that the page has for them."""

from __future__ import annotations

from millrace.contracts.metric_declarations import PARTITION_METRICS, SINK_METRICS, SINK_TRANSACTIONS
from millrace.contracts.metrics import camel_case

_TRANSACTIONS = ("transactionsCommitted", "transactionsAborted", "transactionsSkipped")


def metric_sentences() -> dict[str, str]:
    """Return the sentence of each metric of partitions and sinks, by its name in JSON, such as ``pendingRecords``."""
    sentences = {camel_case(metric.source): metric.help for metric in (*PARTITION_METRICS, *SINK_METRICS)}
    return sentences | dict.fromkeys(_TRANSACTIONS, SINK_TRANSACTIONS.help)
