"""The site that `tox -e site` has built, on a server of this process, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.browser import chromium
from support.serving import serving

SITE = Path(__file__).parents[2] / "build/site"


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler of requests for files that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Ignore a request that would be logged."""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the site."""
    if not (SITE / "searchindex.js").exists():
        pytest.fail("there is no site in build/site: run tox -e site")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=SITE))) as address:
        yield f"http://{address}"


@pytest.fixture(scope="session")
def browser():
    with chromium() as running:
        yield running
