"""A database's text form, without its password."""

from __future__ import annotations

from millrace_catalog.sinks.jdbc.database import Database
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL


def test_secrets_of_url_and_properties_are_never_shown():
    url = "jdbc:postgresql://tests:hidden0@localhost/shop?user=tests&password=hidden1&ssl=true"
    database = Database(url, {"user": "tests", "sslpassword": "hidden2", "secretEmpty": ""}, PostgreSQL())

    assert repr(database) == "jdbc:postgresql://localhost/shop"
    refusal = "tests could not log in by hidden1 and hidden2 at true"
    assert database.without_secrets(refusal) == "tests could not log in by *** and *** at true"
