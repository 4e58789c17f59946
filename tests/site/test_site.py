"""The site in Chromium: its search, and pages at the sizes of a laptop and a telephone."""

from __future__ import annotations

import pytest

from support.browser import LAPTOP, TELEPHONE, LookedAt

FIRST_RESULTS = {
    "lag": "docs/monitoring.html#lag",
    "exactly once": "docs/exactly-once.html",
    "upsert": "docs/upsert.html",
    "schema registry": "docs/avro.html#with-a-schema-registry",
    "kerberos": "docs/security.html#kerberos",
    "consumer group": "docs/monitoring.html#the-consumer-group",
    "iceberg": "docs/pipelines-iceberg.html",
    "local_session": "docs/api/millrace.html#millrace.local_session",
}

PAGES = (
    "README",
    "docs/index",
    "docs/concepts",
    "docs/reading",
    "docs/exactly-once",
    "docs/pipelines",
    "docs/options",
    "docs/commands",
    "docs/api/millrace",
    "bench/RESULTS",
)


@pytest.mark.parametrize(("query", "page"), FIRST_RESULTS.items(), ids=FIRST_RESULTS)
def test_a_search_shows_the_right_page_first(query, page, site, browser):
    shown = LookedAt(browser, site).page
    shown.goto(f"{site}/search.html?q={query}")
    # Sphinx adds results one after the other, and then this sentence
    shown.get_by_text("Search finished").wait_for()
    assert shown.locator("#search-results li a").first.get_attribute("href") == page
    shown.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [LAPTOP, TELEPHONE], ids=["laptop", "telephone"])
def test_pages_fit_their_window_and_load_nothing_from_elsewhere(screen, scheme, site, browser):
    shown = LookedAt(browser, site, screen._replace(scheme=scheme))
    elsewhere = []
    shown.page.on("request", lambda request: request.url.startswith(site) or elsewhere.append(request.url))
    too_wide = []
    for name in PAGES:
        shown.page.goto(f"{site}/{name}.html")
        if not shown.is_as_wide_as_its_window():
            too_wide.append(name)
    assert (too_wide, elsewhere, shown.problems) == ([], [], [])
    shown.page.context.close()


def test_a_missing_page_leads_back(site, browser):
    shown = LookedAt(browser, site).page
    shown.goto(f"{site}/404.html")
    shown.get_by_role("link", name="Concepts").first.click()
    shown.get_by_role("heading", name="Concepts").first.wait_for()
    shown.context.close()
