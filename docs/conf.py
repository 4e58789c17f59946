"""The site: README and the pages of docs as they stand, in the navigation of ``index.md``."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

project = "millrace"
author = copyright = _PROJECT["authors"][0]["name"]  # noqa: A001 - Sphinx's name
release = version = _PROJECT["version"]

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
    "show_toc_level": 2,
    "navigation_depth": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
notfound_urls_prefix = None
llms_txt_summary = _PROJECT["description"]
