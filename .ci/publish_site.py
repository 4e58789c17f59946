"""Put the site of build/site beside the versions that are published already, in the branch gh-pages.

Usage: ``python .ci/publish_site.py REPOSITORY``, the address of a Git repository. ``build/site/switcher.json``, which
``docs/conf.py`` writes, says which version the site is of. The branch has a folder for each minor release, such as
``0.2/``, and ``dev/`` for main. ``stable/`` is the newest release. Its addresses stay: a page that it lacks leads to
the last release that had it. The whole branch, which the program leaves in ``build/published``, is the site.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build/site"
PUBLISHED = ROOT / "build/published"

SWITCHER = "switcher.json"
DEV = "dev"
STABLE = "stable"
BRANCH = "gh-pages"

_AUTHOR = ("-c", "user.name=Site workflow", "-c", "user.email=41898282+github-actions[bot]@users.noreply.github.com")
_NO_SUCH_BRANCH = 2

_REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>millrace</title>
<meta http-equiv="refresh" content="0; url={address}">
<a href="{address}">millrace</a>
</html>
"""

Entry = dict[str, Any]
"""A version as the theme's list of versions has it: name, version, url, preferred."""


def main(arguments: list[str]) -> None:
    """Add the site to the branch of a repository."""
    try:
        (repository,) = arguments
    except ValueError:
        sys.exit("expected the address of a Git repository, such as https://github.com/OWNER/NAME")
    if not (SITE / SWITCHER).exists():
        sys.exit(f"there is no site in {SITE}: run tox -e site")
    shutil.rmtree(PUBLISHED, ignore_errors=True)
    fetch(repository, PUBLISHED)
    entry = add(SITE, PUBLISHED)
    push(PUBLISHED, f"Publish {entry['version']}")
    sys.stdout.write(f"published {entry['version']} at {entry['url']}\n")


def fetch(repository: str, folder: Path) -> None:
    """Clone the branch of all versions, or begin it where there is none."""
    lookup = ["git", "ls-remote", "--exit-code", "--heads", repository, BRANCH]
    if subprocess.run(lookup, check=False, capture_output=True).returncode == _NO_SUCH_BRANCH:
        _git("init", "--quiet", "--initial-branch", BRANCH, str(folder))
        _git("-C", str(folder), "remote", "add", "origin", repository)
    else:
        _git("clone", "--quiet", "--depth", "1", "--branch", BRANCH, repository, str(folder))


def push(folder: Path, message: str) -> None:
    """Commit what has changed, and push it; a push that would drop another one's versions fails."""
    _git("-C", str(folder), "add", "--all")
    _git("-C", str(folder), *_AUTHOR, "commit", "--quiet", "--allow-empty", "--message", message)
    _git("-C", str(folder), "push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}")


def add(site: Path, published: Path) -> Entry:
    """Put a site into the folder of its version, and bring up to date what belongs to all versions.

    Args:
        site: A site, as ``tox -e site`` builds it.
        published: The folder of all versions.

    Returns:
        The site's version, as the list of versions has it.
    """
    (entry,) = json.loads((site / SWITCHER).read_text())
    _replace(published / entry["version"], site)
    entries = list_versions(published)
    (published / SWITCHER).write_text(json.dumps(entries, indent=1) + "\n")
    newest = next((one for one in entries if one.get("preferred")), entries[0])
    if newest["version"] != DEV:
        _make_stable(published, newest["version"], entries)
    root = entry["url"].removesuffix(f"{entry['version']}/")
    first = STABLE if (published / STABLE).exists() else newest["version"]
    (published / "index.html").write_text(_REDIRECT.format(address=f"{root}{first}/docs/index.html"))
    for name in ("404.html", "llms.txt"):
        shutil.copy(published / newest["version"] / name, published / name)
    return entry


def list_versions(published: Path) -> list[Entry]:
    """Return all versions: dev, then releases from the newest on, which is the preferred one."""
    folders = (file.parent for file in published.glob(f"*/{SWITCHER}") if file.parent.name != STABLE)
    entries = [json.loads((folder / SWITCHER).read_text())[0] for folder in folders]
    entries.sort(key=_release_order, reverse=True)
    releases = [entry for entry in entries if entry["version"] != DEV]
    for newest in releases[:1]:
        newest.update(name=f"{newest['version']} (newest)", preferred=True)
    return entries


def _release_order(entry: Entry) -> tuple[float, ...]:
    version = entry["version"]
    return (math.inf,) if version == DEV else tuple(map(int, version.split(".")))


def _make_stable(published: Path, newest: str, entries: list[Entry]) -> None:
    """Make ``stable`` a copy of the newest release, with redirects at addresses of pages that it lacks."""
    stable = published / STABLE
    former = [page.relative_to(stable) for page in stable.glob("**/*.html")]
    _replace(stable, published / newest)
    for page in former:
        releases = (entry for entry in entries if entry["version"] != DEV)
        last = next((entry for entry in releases if (published / entry["version"] / page).exists()), None)
        if last is not None and not (stable / page).exists():
            (stable / page).parent.mkdir(parents=True, exist_ok=True)
            (stable / page).write_text(_REDIRECT.format(address=f"{last['url']}{page.as_posix()}"))


def _replace(folder: Path, source: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
