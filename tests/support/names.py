"""Names of topics, groups, transactional ids, clusters and tables that nothing else has, in any test process."""

from __future__ import annotations

import random
import re

MAX_LENGTH = 63
"""PostgreSQL's limit, the shortest of all; a topic's is 249, so that a test may put something before or behind it."""

# No vowels and no digits: neither words, which a test may look for, nor numbers, such as those of partitions and tasks
_LETTERS = "bcdfghjklmnpqrstvwxz"
_COUNT = 8
# Unaffected by random.seed in a test
_RANDOM = random.SystemRandom()


def unique_name(purpose: str, number: int | None = None) -> str:
    """Return a name that only its caller has: of letters, digits and hyphens, with a letter at both ends.

    Args:
        purpose: What it is for, such as the name of the test; its end is left out when it is too long.
        number: Its place among the names of one purpose, by which they are sorted.
    """
    mark = "".join(_RANDOM.choices(_LETTERS, k=_COUNT))
    ending = f"-{mark}" if number is None else f"-{number:02}-{mark}"
    words = re.sub(r"[^A-Za-z0-9]+", "-", purpose).strip("-0123456789")
    beginning = words[: MAX_LENGTH - len(ending)].strip("-")
    assert beginning, f"name what {purpose!r} is for, in ASCII letters"
    return beginning + ending
