"""The site that `tox -e site` has built, published beside other versions on a server of this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import pytest

from support.scripts import load_script
from support.serving import serving

SITE = Path(__file__).parents[2] / "build/site"


class PublishedSite(NamedTuple):
    """Addresses of a published site, without a slash at their ends.

    Attributes:
        origin: Scheme, host and port.
        root: The folder of all versions.
        version: The version that is built.
    """

    origin: str
    root: str
    version: str


class PagesHandler(SimpleHTTPRequestHandler):
    """A handler that answers as GitHub's pages do: what is missing by 404.html of the published folder."""

    def __init__(self, *arguments: object, missing_page: Path, **others: object) -> None:
        self._missing_page = missing_page
        super().__init__(*arguments, **others)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer by the page, where nothing is."""
        if code != 404:
            super().send_error(code, message, explain)
            return
        body = self._missing_page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Ignore a request that would be logged."""


@contextmanager
def published_site(folder: Path, *others: Path) -> Iterator[PublishedSite]:
    """Publish the site that is built, after other ones, and serve them within the block.

    Args:
        folder: Where to publish.
        others: Folders of other sites.
    """
    if not (SITE / "switcher.json").exists():
        pytest.fail("there is no site in build/site: run tox -e site")
    (entry,) = json.loads((SITE / "switcher.json").read_text())
    root = urljoin(entry["url"], "..")
    versions = folder / root.strip("/")
    versions.mkdir(parents=True, exist_ok=True)
    add = load_script("publish_site").add
    for site in (*others, SITE):
        add(site, versions)
    handler = partial(PagesHandler, directory=folder, missing_page=versions / "404.html")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as address:
        origin = f"http://{address}"
        yield PublishedSite(origin, f"{origin}{root}".rstrip("/"), f"{origin}{entry['url']}".rstrip("/"))


def write_release(folder: Path, version: str) -> Path:
    """Write a site of another release, which has one page, and return its folder."""
    (entry,) = json.loads((SITE / "switcher.json").read_text())
    address = urljoin(entry["url"], f"../{version}/")
    for page in ("index", "404", "docs/index", "docs/concepts"):
        file = folder / f"{page}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<!doctype html><title>{version}</title><h1>{page} of {version}</h1>")
    (folder / "llms.txt").write_text("")
    (folder / "switcher.json").write_text(json.dumps([{"name": version, "version": version, "url": address}]))
    return folder
