"""The branch of all versions of the site: what a publication adds, replaces and keeps."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from support.scripts import load_script

publish_site = load_script("publish_site")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "published"
    folder.mkdir()
    return folder


@pytest.fixture
def make_site(tmp_path: Path):
    """Make a site of a version, in which each page has a text."""

    def make(version: str, text: str = "", pages=("docs/index",)) -> Path:
        site = tmp_path / f"site-{version}"
        for page in (*pages, "404"):
            file = site / f"{page}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{version} {text}")
        (site / "llms.txt").write_text(version)
        entry = {"name": version, "version": version, "url": f"/millrace/{version}/"}
        (site / "switcher.json").write_text(json.dumps([entry]))
        return site

    return make


def listed(published: Path) -> list[tuple[str, bool]]:
    entries = json.loads((published / "switcher.json").read_text())
    return [(entry["name"], entry.get("preferred", False)) for entry in entries]


def target_of(page: Path) -> str:
    return re.search(r"url=([^\"]+)", page.read_text())[1]


def test_before_the_first_release_the_site_is_that_of_main(published, make_site):
    publish_site.add(make_site("dev"), published)
    assert listed(published) == [("dev", False)]
    assert target_of(published / "index.html") == "/millrace/dev/docs/index.html"
    assert (published / "404.html").read_text() == "dev "
    assert not (published / "stable").exists()


def test_the_newest_release_is_preferred_by_its_number(published, make_site):
    for version in ("0.10", "dev", "0.9"):
        publish_site.add(make_site(version), published)
    assert listed(published) == [("dev", False), ("0.10 (newest)", True), ("0.9", False)]
    assert (published / "stable/docs/index.html").read_text() == "0.10 "
    assert target_of(published / "index.html") == "/millrace/stable/docs/index.html"
    assert [(published / name).read_text() for name in ("404.html", "llms.txt")] == ["0.10 ", "0.10"]


def test_a_patch_replaces_the_pages_of_its_minor_release(published, make_site):
    publish_site.add(make_site("0.1", "first"), published)
    publish_site.add(make_site("0.1", "second"), published)
    assert listed(published) == [("0.1 (newest)", True)]
    texts = {(published / folder / "docs/index.html").read_text() for folder in ("0.1", "stable")}
    assert texts == {"0.1 second"}


def test_an_address_of_stable_leads_to_the_last_release_that_had_the_page(published, make_site):
    publish_site.add(make_site("0.1", pages=("docs/index", "docs/old/page")), published)
    for version in ("0.2", "dev", "0.3"):
        publish_site.add(make_site(version), published)
        assert target_of(published / "stable/docs/old/page.html") == "/millrace/0.1/docs/old/page.html"


def test_it_is_pushed_to_the_branch_and_continued_there(tmp_path, make_site):
    repository = tmp_path / "repository.git"
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    for version in ("dev", "0.1"):
        folder = tmp_path / f"clone-{version}"
        publish_site.fetch(str(repository), folder)
        publish_site.add(make_site(version), folder)
        publish_site.push(folder, f"Publish {version}")

    log = subprocess.run(
        ["git", "-C", repository, "log", "--format=%s", "gh-pages"], capture_output=True, text=True, check=True
    )
    assert log.stdout.split("\n")[:2] == ["Publish 0.1", "Publish dev"]
    publish_site.fetch(str(repository), tmp_path / "read")
    assert listed(tmp_path / "read") == [("dev", False), ("0.1 (newest)", True)]


def test_a_repository_that_cannot_be_read_is_not_taken_for_an_empty_one(tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        publish_site.fetch(str(tmp_path / "missing"), tmp_path / "clone")
