"""Look for what keeps queries from reaching Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.diagnosis.findings import Diagnosis
from millrace.diagnosis.ports import LOOPBACK
from millrace.diagnosis.run import diagnose

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PREFIX = "properties."


def probe(options: Mapping[str, str], *, spark: SparkSession | None = None, writes: bool = False) -> Diagnosis:
    """Check step by step what a query with these options needs, as ``millrace doctor`` does.

    It checks Java, Python, packages, clock and ports of this host; host name, port, TLS and login of each bootstrap
    server; every advertised address; the brokers' clock; and this user's permissions for topics, group and
    transactional ids.

    Args:
        options: The options of the query. Only those of the connection are checked.
        spark: A session whose executors check all of these addresses, their login, versions of packages, their clock,
            and whether they reach the driver at 'scan.metrics.address', too.
        writes: Whether the query writes its topics; by default it reads them.

    Returns:
        All findings, each with a remedy.
    """
    topics = [name for name in options.get("topic", "").split(";") if name]
    return diagnose(
        {name: value for name, value in options.items() if name.startswith(_PREFIX)},
        topics=() if writes else topics,
        written_topics=topics if writes else (),
        group=options.get("properties.group.id", ""),
        transactional_id_prefix=options.get("sink.transactional-id-prefix", ""),
        metrics_address=options.get("scan.metrics.address", LOOPBACK),
        spark=spark,
    )
