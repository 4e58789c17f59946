"""The site that `tox -e site` has built, on a server of this process, and a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.browser import chromium

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
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=SITE)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def browser():
    with chromium() as running:
        yield running
