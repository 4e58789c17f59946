"""Requests to a schema registry: logins, wrong URLs."""

from __future__ import annotations

import pytest

from millrace.errors import RegistryError
from millrace_cli.schema_registry import call_registry


@pytest.mark.parametrize(
    "login", ["KEY:12/SECRET", "KEY:12/SECRET+pw==", "KEY:pw#SECRET", "KEY:SECRET?x", "K:SECRET@x"]
)
def test_errors_never_show_a_login(login: str) -> None:
    with pytest.raises(RegistryError, match=r"does not answer at http://127\.0\.0\.1:1/schemas/ids/7: ") as error:
        call_registry(f"http://{login}@127.0.0.1:1/schemas/ids/7")
    assert "SECRET" not in str(error.value)
    assert "KEY" not in str(error.value)


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://", "http://KEY:SECRET", "http://KEY:SECRET@", "http://ho st", "KEY:SECRET@host"]
)
def test_what_is_no_url_is_told_in_a_sentence_that_does_not_show_it(url: str) -> None:
    with pytest.raises(RegistryError, match="--registry: expected a URL such as http://HOST:8081") as error:
        call_registry(url)
    assert "SECRET" not in str(error.value)
