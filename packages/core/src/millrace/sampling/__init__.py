"""What a catalog may ask a Kafka cluster: which topics there are, and what their newest messages hold."""

from millrace.configuration.client_properties import take_client_properties
from millrace.sampling.topics import Topics

__all__ = ["Topics", "take_client_properties"]
