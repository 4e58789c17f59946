"""The site: README and the pages of docs as they stand, in the navigation of ``index.md``."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

project = "millrace"
author = copyright = _PROJECT["authors"][0]["name"]  # noqa: A001 - Sphinx's name
release = version = _PROJECT["version"]

# Versions are published beside each other: minor releases as 0.1 and 0.2, the main branch as dev (.ci/publish_site.py)
_SITE_ROOT = os.environ.get("MILLRACE_SITE_ROOT", "/")
_VERSION = release.rpartition(".")[0] if os.environ.get("MILLRACE_SITE_RELEASED") == "true" else "dev"
_SITE_PATH = f"{_SITE_ROOT}{_VERSION}/"

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "bench/RESULTS.md",
    "docs/*.md",
    "docs/api/*.md",
    "docs/decisions/*.md",
    "packages/broker/README.md",
    "tests/reference-parity/*.md",
]
# Folders without pages, which would be searched
exclude_patterns = [".*", "build", "dist", "venv"]
# Pages for contributors are reached by links alone;
# an annotation's ``type`` is Python's own, whatever has a field of this name
suppress_warnings = ["toc.not_included", "ref.python"]

extensions = [
    "myst_parser",
    "notfound.extension",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_llms_txt",
]
# What stands between single backticks in docstrings are names of Python
default_role = "py:obj"
autodoc_member_order = "bysource"
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"millrace {release}"
html_additional_pages = {"index": "redirect.html"}
html_sidebars = {"**": ["all-pages.html"]}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs/search_scorer.js")
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "right",
    "navbar_center": [],
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "switcher": {"json_url": "../switcher.json", "version_match": _VERSION},
    # It exists where this version lies beside the others
    "check_switcher": False,
    "show_version_warning_banner": True,
    "show_toc_level": 2,
    "navigation_depth": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
notfound_urls_prefix = _SITE_PATH
llms_txt_summary = _PROJECT["description"]
llms_txt_uri_template = f"{_SITE_PATH}_sources/{{docname}}{{suffix}}{{sourcelink_suffix}}"


def setup(app: Any) -> None:
    """Connect what Sphinx has no setting for."""
    # Before the theme, which writes the address into the page
    app.connect("html-page-context", _set_switcher_of_missing_page, priority=100)
    app.connect("build-finished", _write_switcher_entry)


def _set_switcher_of_missing_page(_: Any, page: str, __: str, context: dict[str, Any], ___: object) -> None:
    """Give the page that any missing address shows, at any depth, the list of versions by its full path."""
    if page == "404":
        context["theme_switcher"] = {**context["theme_switcher"], "json_url": f"{_SITE_ROOT}switcher.json"}


def _write_switcher_entry(app: Any, error: Exception | None) -> None:
    """Write the entry of this version, of which the list of all versions consists."""
    if error is None:
        entry = {"name": _VERSION, "version": _VERSION, "url": _SITE_PATH}
        Path(app.outdir, "switcher.json").write_text(json.dumps([entry]) + "\n")
