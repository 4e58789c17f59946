from __future__ import annotations

import re

import pytest

from millrace.api.session import CHECKPOINT_FILE_MANAGER, REDACTION_REGEX, UNLIMITED_BATCH_BYTES, session_settings
from millrace.options.secrets import is_secret


@pytest.mark.parametrize(
    "name",
    [
        "sasl.jaas.config",
        "sasl.password",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.private.key.pem",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.extensions",
        "schema.registry.basic.auth.user.info",
        "schema.registry.bearer.auth.credentials.source",
        "ssl.key.password",
        "ssl.key.pem",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.truststore.password",
    ],
)
def test_spark_hides_what_millrace_hides(name: str) -> None:
    assert is_secret(f"properties.{name}")
    assert re.search(REDACTION_REGEX, f"properties.{name}")


@pytest.mark.parametrize(
    "name", ["topic", "properties.bootstrap.servers", "properties.security.protocol", "key.format"]
)
def test_spark_shows_what_a_person_needs_to_see(name: str) -> None:
    assert not re.search(REDACTION_REGEX, name)


def test_a_local_session_has_the_settings(spark) -> None:
    assert spark.conf.get("spark.redaction.regex") == REDACTION_REGEX
    assert spark.conf.get("spark.sql.execution.arrow.maxBytesPerBatch") == UNLIMITED_BATCH_BYTES
    assert spark.conf.get("spark.sql.python.filterPushdown.enabled") == "true"
    assert spark.conf.get("spark.sql.streaming.checkpointFileManagerClass") == CHECKPOINT_FILE_MANAGER


@pytest.mark.parametrize(("master", "is_loopback"), [(None, True), ("local[4]", True), ("spark://host:7077", False)])
def test_the_driver_of_a_cluster_can_be_reached_by_its_executors(master: str | None, is_loopback: bool) -> None:
    settings = session_settings(2, {} if master is None else {"spark.master": master})
    assert (settings.get("spark.driver.host") == "127.0.0.1") is is_loopback
    assert ("spark.driver.bindAddress" in settings) is is_loopback
