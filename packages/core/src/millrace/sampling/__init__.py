"""What a catalog may ask a Kafka cluster: which topics there are, and what their newest messages hold."""

from millrace.configuration.build import take_client_properties
from millrace.sampling.topics import Sample, Topics

__all__ = ["Sample", "Topics", "take_client_properties"]
