"""Topics and their newest messages, for catalogs."""

from millrace.configuration.client_properties import take_client_properties
from millrace.sampling.topic_details import GroupLag, TopicDetails, TopicInspector, TopicSummary, retention_of
from millrace.sampling.topics import Topics

__all__ = [
    "GroupLag",
    "TopicDetails",
    "TopicInspector",
    "TopicSummary",
    "Topics",
    "retention_of",
    "take_client_properties",
]
