"""Check the prose of all pages against the table of words in words.toml."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text())["prose"]
PAGES = ("*.md", "docs/**/*.md", "packages/*/README.md", "examples/*/README.md")

_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\([^)]*\)")


def main() -> None:
    """Print each place with a better wording; exit with 1 if there is one."""
    problems = [problem for pattern in PAGES for page in sorted(ROOT.glob(pattern)) for problem in check(page)]
    sys.exit("\n".join(problems) or None)


def check(page: Path) -> Iterator[str]:
    """Yield the places of a page whose words are in the table."""
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        prose = "" if is_code else _LINK.sub("]", _CODE.sub("``", line))
        for pattern, better in WORDS.items():
            for match in re.finditer(pattern, prose, re.IGNORECASE):
                yield f"{page.relative_to(ROOT)}:{number}: {match[0]!r}: write {better}"


if __name__ == "__main__":
    main()
