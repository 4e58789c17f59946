"""The code blocks of README and docs run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from millrace_cdc.connectors.iceberg.catalog import PACKAGE
from support.admin import delete_topics
from support.iceberg import add_iceberg
from support.kafka import consume, produce

ROOT = Path(__file__).parents[2]
ORDERS = (
    "orders",
    "large-orders",
    "order-counts",
    "frequent-countries",
    "copied-orders",
    "order-changes",
    "order-totals",
    "latest-orders",
    "typed-orders",
    "dirty-orders",
    "dead-orders",
    "messy-orders",
    "broken-orders",
    "registered-orders",
    "registered-events",
)
ICEBERG = ROOT / "docs/pipelines-iceberg.md"
"""It makes a session with a library of its own, which the session of the tests gets for it."""

ELSEWHERE = {ICEBERG, ROOT / "docs/declarative-pipelines.md", ROOT / "docs/plugin-skeletons.md"}
"""Pages with tests of their own: skeletons run among the unit tests, with their suites."""

PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - ELSEWHERE)]


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def replaced(text: str, replacements: dict[str, str]) -> str:
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


@pytest.fixture
def orders(broker):
    """The topics that the docs speak of."""
    for topic in ORDERS:
        broker.create_topic(topic, 2)
    rows = [{"id": n, "country": "de", "amount": 60.0 * n} for n in range(4)]
    produce(broker.bootstrap_servers, "orders", [{"value": json.dumps(row).encode()} for row in rows])
    yield
    delete_topics(broker.bootstrap_servers, ORDERS)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
@pytest.mark.usefixtures("orders")
def test_code_blocks_run(page, broker, spark, tmp_path, request):
    here = {"localhost:9092": broker.bootstrap_servers, "checkpoints/": f"{tmp_path}/checkpoints/"}
    here["tables/"] = f"{tmp_path}/tables/"
    if "http://localhost:8081" in page.read_text():
        here["http://localhost:8081"] = request.getfixturevalue("registry").url
    names = {"spark": spark, "__name__": "__main__"}
    for block in blocks(page):
        exec(compile(replaced(block, here), page.name, "exec", dont_inherit=True), names)

    if "large-orders" in page.read_text():
        written = [json.loads(message.value())["id"] for message in consume(broker.bootstrap_servers, "large-orders")]
        assert set(written) == {2, 3}


def test_the_tutorial_of_iceberg_runs(broker, spark, tmp_path, monkeypatch):
    add_iceberg(spark)
    assert ICEBERG.read_text().count(f'"{PACKAGE}"') == 1
    monkeypatch.chdir(tmp_path)
    (definition,) = re.findall(r"^```yaml\n(.*?)^```", ICEBERG.read_text(), re.MULTILINE | re.DOTALL)
    # Spark's JVM is in another folder
    here = {"localhost:9092": broker.bootstrap_servers}
    here |= {before: f"{tmp_path}/{before}" for before in ("tables/", "shop.yaml.checkpoint")}
    Path("shop.yaml").write_text(replaced(definition, here))
    broker.create_topic("shop-changes", 1)
    try:
        exec(compile(replaced("\n".join(blocks(ICEBERG)), here), ICEBERG.name, "exec", dont_inherit=True), {})
    finally:
        delete_topics(broker.bootstrap_servers, ["shop-changes"])


def test_the_options_page_is_what_the_declarations_say():
    command = [sys.executable, "-m", "docs.generate_options", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_ci_runs_the_readmes_test_command():
    (command,) = re.findall(r"^test_command='(.*)'$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert command in (ROOT / "README.md").read_text().splitlines()
