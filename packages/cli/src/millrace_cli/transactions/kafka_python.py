"""Everything that millrace uses of the library kafka-python.

Import this module where it is needed, since the library is an extra. `AbstractTokenProvider` is not public: the library
requires token providers to inherit from it, and exports it nowhere else.
"""

from __future__ import annotations

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, TransactionState
from kafka.errors import (
    AuthorizationError,
    KafkaError,
    TransactionalIdNotFoundError,
    UnknownBrokerIdError,
    UnsupportedVersionError,
)
from kafka.net.sasl.oauth import AbstractTokenProvider

__all__ = [
    "AbstractTokenProvider",
    "AuthorizationError",
    "KafkaAdminClient",
    "KafkaError",
    "TopicPartition",
    # Missing in versions that cannot list transactions
    "TransactionState",
    "TransactionalIdNotFoundError",
    "UnknownBrokerIdError",
    "UnsupportedVersionError",
]
