"""The site in Chromium: its search, its versions, and pages at the sizes of a laptop and a telephone."""

from __future__ import annotations

import re
from urllib.parse import urljoin
from urllib.request import urlopen

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
def test_pages_fit_their_window_and_load_nothing_from_elsewhere(screen, scheme, pages, browser):
    site = pages.version
    shown = LookedAt(browser, site, screen._replace(scheme=scheme))
    elsewhere = []
    shown.page.on("request", lambda request: request.url.startswith(pages.origin) or elsewhere.append(request.url))
    too_wide = []
    for name in PAGES:
        shown.page.goto(f"{site}/{name}.html")
        if not shown.is_as_wide_as_its_window():
            too_wide.append(name)
    assert (too_wide, elsewhere, shown.problems) == ([], [], [])
    shown.page.context.close()


def test_a_missing_page_leads_back(site, browser):
    shown = LookedAt(browser, site).page
    failed = []
    shown.on("response", lambda response: response.status >= 400 and failed.append(response.url))
    shown.goto(f"{site}/docs/deeper/missing.html")
    shown.get_by_role("link", name="Concepts").first.click()
    shown.get_by_role("heading", name="Concepts").first.wait_for()
    assert shown.url == f"{site}/docs/concepts.html"
    # Scripts and styles of what is shown in its place are there
    assert failed == [f"{site}/docs/deeper/missing.html"]
    shown.context.close()


def test_the_first_address_leads_to_the_first_page(pages, browser):
    shown = LookedAt(browser, pages.root).page
    shown.goto(f"{pages.root}/")
    shown.wait_for_url(f"{pages.version}/docs/index.html")
    shown.context.close()


@pytest.mark.parametrize("folder", ["root", "version"])
def test_programs_find_each_page_by_llms_txt(folder, pages):
    with urlopen(f"{getattr(pages, folder)}/llms.txt") as response:
        links = re.findall(r"\]\(([^)]*)\)", response.read().decode())
    assert any(link.endswith("/docs/concepts.md.txt") for link in links)
    for link in links:
        with urlopen(urljoin(pages.origin, link)) as response:
            assert response.status == 200


def open_versions(page):
    """Open the list of versions in the head of a page, and return what it offers."""
    page.locator(".version-switcher__button:visible").click()
    offered = page.locator(".version-switcher__menu:visible a")
    offered.first.wait_for()
    return offered


def test_the_only_version_is_chosen(site, browser):
    shown = LookedAt(browser, site)
    shown.page.goto(f"{site}/docs/reading.html")
    button = shown.page.locator(".version-switcher__button:visible")
    version = site.rpartition("/")[2]
    shown.page.wait_for_function("text => document.body.innerText.includes(text)", arg=version)
    assert button.inner_text().strip().startswith(version)
    assert open_versions(shown.page).count() == 1
    assert not shown.page.locator("#bd-header-version-warning").is_visible()
    assert shown.problems == []
    shown.page.context.close()


@pytest.mark.parametrize(
    ("page", "target"),
    [("docs/concepts.html", "docs/concepts.html"), ("docs/reading.html", "")],
    ids=["same page", "page that it lacks"],
)
def test_another_version_shows_the_same_page_or_its_first_one(page, target, two_versions, browser):
    shown = LookedAt(browser, two_versions.root).page
    shown.goto(f"{two_versions.version}/{page}")
    offered = open_versions(shown)
    assert len(offered.all()) == 2
    offered.get_by_text("0.0").click()
    shown.wait_for_url(f"{two_versions.root}/0.0/{target}")
    shown.context.close()


def test_pages_of_main_lead_to_the_newest_release(two_versions, browser):
    shown = LookedAt(browser, two_versions.root).page
    shown.goto(f"{two_versions.version}/docs/concepts.html")
    shown.get_by_role("link", name="Switch to stable version").click()
    shown.wait_for_url(f"{two_versions.root}/0.0/docs/concepts.html")
    shown.context.close()
