"""Expect that a plugin refuses something, and say the rule when it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def must_refuse(error: type[Exception], named: str, rule: str) -> Iterator[None]:
    """Fail unless the block raises an error whose message names what is wrong.

    Args:
        error: The class of the error.
        named: A text of the message.
        rule: What the contract asks, for the failure.
    """
    try:
        yield
    except error as refusal:
        if not re.search(re.escape(named), str(refusal)):
            raise AssertionError(f"{rule}: the message must name {named!r}; it is {str(refusal)!r}") from refusal
        return
    raise AssertionError(f"{rule}: raise a {error.__name__} that names {named!r}")
