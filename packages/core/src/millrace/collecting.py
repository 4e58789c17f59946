"""Dead letter collectors, for readers of messages beside the data source."""

from millrace.source.enumerator.preflight import check_collector_topics
from millrace.source.reader.dead_letters import TaskProducer

__all__ = ["TaskProducer", "check_collector_topics"]
