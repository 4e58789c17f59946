"""The published site, and a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.browser import chromium
from support.published_site import PublishedSite, published_site, write_release


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublishedSite]:
    """The addresses of the site, which is the only version."""
    with published_site(tmp_path_factory.mktemp("published")) as addresses:
        yield addresses


@pytest.fixture(scope="session")
def site(pages: PublishedSite) -> str:
    """The address of the site, which is the only version."""
    return pages.version


@pytest.fixture
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublishedSite]:
    """The addresses of the site beside a release, 0.0."""
    release = write_release(tmp_path_factory.mktemp("release"), "0.0")
    with published_site(tmp_path_factory.mktemp("published"), release) as addresses:
        yield addresses


@pytest.fixture(scope="session")
def browser():
    with chromium() as running:
        yield running
