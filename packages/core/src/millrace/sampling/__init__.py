"""Topics and their newest messages, for catalogs."""

from millrace.configuration.client_properties import take_client_properties
from millrace.sampling.topics import Topics

__all__ = ["Topics", "take_client_properties"]
