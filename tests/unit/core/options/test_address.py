from __future__ import annotations

import pytest

from millrace.options.address import parse_address, split_address


@pytest.mark.parametrize(
    ("text", "address"),
    [("10.0.0.7", ("10.0.0.7", 0)), ("driver.internal:7077", ("driver.internal", 7077)), ("[::1]:80", ("::1", 80))],
)
def test_an_address_is_a_host_with_or_without_a_port(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == text
    assert split_address(text) == address


def test_nothing_is_an_address_too() -> None:
    assert parse_address("") == ""


@pytest.mark.parametrize("text", ["a b", ":80", "host:", "host:99999", "::1", "http://host"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected an address as host or host:port$"):
        parse_address(text)
