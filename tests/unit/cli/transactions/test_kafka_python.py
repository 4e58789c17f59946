"""Guards for uses of kafka-python's internals: these tests fail first when the library changes."""

import inspect

from kafka.net.sasl.oauth import SaslMechanismOAuth

from millrace_cli.transactions.kafka_python import (
    AbstractTokenProvider,
    AuthorizationError,
    KafkaAdminClient,
    KafkaError,
    TransactionalIdNotFoundError,
    TransactionState,
    UnknownBrokerIdError,
    UnsupportedVersionError,
)
from millrace_cli.transactions.open_transactions import OPEN_STATES


class Token(AbstractTokenProvider):
    def token(self):
        return "a.b.c"

    def extensions(self):
        return {"team": "x"}


def test_a_token_provider_is_asked_for_the_token_and_its_extensions():
    mechanism = SaslMechanismOAuth(sasl_oauth_token_provider=Token())
    assert mechanism.auth_bytes() == b"n,,\x01auth=Bearer a.b.c\x01team=x\x01\x01"


def test_a_client_takes_all_that_a_login_consists_of():
    assert {
        "bootstrap_servers",
        "bootstrap_timeout_ms",
        "request_timeout_ms",
        "client_id",
        "security_protocol",
        "ssl_context",
        "sasl_mechanism",
        "sasl_oauth_token_provider",
        "sasl_kerberos_service_name",
        "sasl_plain_username",
        "sasl_plain_password",
    } <= set(KafkaAdminClient.DEFAULT_CONFIG)


def test_transactions_are_listed_by_state_and_described_by_id():
    assert "state_filters" in inspect.signature(KafkaAdminClient.list_transactions).parameters
    assert list(inspect.signature(KafkaAdminClient.describe_transactions).parameters)[:2] == [
        "self",
        "transactional_ids",
    ]


def test_listings_and_descriptions_have_the_fields_that_are_read():
    from kafka.admin import TransactionDescription, TransactionListing

    assert "transactional_id" in TransactionListing._fields
    assert {"state", "transaction_start_time_ms", "topic_partitions"} <= set(TransactionDescription._fields)


def test_states_have_kafkas_names():
    assert set(OPEN_STATES) <= {state.value for state in TransactionState}


def test_errors_say_whether_they_are_transient():
    errors = (AuthorizationError, TransactionalIdNotFoundError, UnknownBrokerIdError, UnsupportedVersionError)
    assert all(issubclass(error, KafkaError) and error.retriable is False for error in errors)
