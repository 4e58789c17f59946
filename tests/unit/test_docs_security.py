"""The page on security says how the client is built that the tests of Kerberos run on."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_client_with_kerberos_is_built_as_in_its_tests() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    section = page.partition("#### Build a client with Kerberos")[2].partition("\n## ")[0]
    script = (ROOT / "tests" / "kerberos" / "build_client").read_text()
    of_the_build = r"@confluentinc/\S+@\S+|confluent-kafka==\S+|--(?:enable|no)-\S+"
    told = re.findall(of_the_build, section)
    assert told == re.findall(of_the_build, script)
    assert len(told) >= 8
