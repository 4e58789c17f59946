"""Chromium, driven by playwright: the live page as people see it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 120_000
"""The time to wait for what the page shows, on a slow machine."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SERIOUS = {"serious", "critical"}


class Screen(NamedTuple):
    """A size of the window, and whether the user prefers dark pages."""

    width: int
    height: int
    scheme: str = "light"


TELEPHONE, LAPTOP, WIDE = Screen(375, 812), Screen(1280, 800), Screen(1920, 1080)


def chromium_path() -> str:
    """Return the path of Chromium; a test fails where there is none, since a skipped one proves nothing."""
    path = os.environ.get("MILLRACE_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.fail(
            "the tests of the live page need Chromium: apt-get install chromium, or name the program of another one "
            "by MILLRACE_CHROMIUM"
        )
    return path


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    with sync_playwright() as playwright:
        # Containers have no namespaces for its sandbox; it opens this machine's own page alone
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-precise-memory-info"]
        )
        try:
            yield browser
        finally:
            browser.close()


class LookedAt:
    """A page in a browser, and what its console has shown.

    Args:
        browser: The browser.
        url: The address of the page.
        screen: The size of its window.
    """

    def __init__(self, browser: Browser, url: str, screen: Screen = LAPTOP) -> None:
        size: Any = {"width": screen.width, "height": screen.height}
        scheme: Any = screen.scheme
        self.problems: list[str] = []
        self._url = url
        self.page: Page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def open(self, address: str, text: str) -> None:
        """Open a view by its address, and wait until it shows a text."""
        self.page.goto(f"{self._url}{address}")
        self.page.wait_for_selector("main[aria-busy=false]")
        self.page.get_by_text(text).first.wait_for()

    def serious_faults(self) -> list[str]:
        """Return the serious faults of accessibility that axe finds, with the elements."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in _SERIOUS]

    def is_as_wide_as_its_window(self) -> bool:
        """Return whether nothing is wider than the window, but what scrolls by itself."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(text)
