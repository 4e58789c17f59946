"""The pages on what holds of the reference: their links, tests, options and sums."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from docs import generate_options

import millrace
from millrace.api.sink import KafkaSinkBuilder
from millrace.api.source import KafkaSourceBuilder
from millrace.configuration.unknown_option_hints import UNSUPPORTED_OPTIONS
from millrace.contracts.metrics import PartitionMetrics, SinkMetrics, SourceMetrics
from millrace.plugins.kinds import KINDS
from millrace.plugins.manager import plugin_manager

DOCS = Path(__file__).parents[2] / "docs"
OVERVIEW = DOCS / "reference-parity.md"
PAGES = sorted((DOCS.parent / "tests/reference-parity").glob("*.md"))
STATUSES = ("works", "differs on purpose", "not applicable", "planned")

METRICS = (PartitionMetrics, SourceMetrics, SinkMetrics)

NOT_OURS = {
    "advertised.listeners",
    "df.repartition",
    "log.flush.*",
    "records-consumed-total",
    "transaction.max.timeout.ms",
    "value.*",
}
"""Settings of brokers, a method of Spark, a metric of Java's client, and the prefix of a format's metadata."""

LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
CODE = re.compile(r"`([^`]+)`")
DOTTED_OR_HYPHENED = re.compile(r"[A-Za-z_]+(?:[.-][A-Za-z0-9_*-]+)+")


class Row(NamedTuple):
    page: Path
    item: str
    status: str
    here: str


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def table_lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---"))


def rows(page: Path) -> list[Row]:
    all_cells = [cells(line) for line in table_lines(page.read_text())]
    return [Row(page, *three) for three in all_cells if three[1] != "status"]


ROWS = [row for page in PAGES for row in rows(page)]


@cache
def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.fixture(scope="module")
def names() -> set[str]:
    """The names that are declared: options, plugins, and what tables of other pages are about."""
    pages = [page.read_text() for page in DOCS.glob("*.md") if page not in (OVERVIEW, DOCS / "options.md")]
    first_cells = {name for text in pages for line in table_lines(text) for name in CODE.findall(cells(line)[0])}
    # Of each option its heading, and the line with its other names and values
    options = re.findall(r"^### .*\n\n.*$", generate_options.render(), re.MULTILINE)
    choices = {name for option in options for name in CODE.findall(option)}
    plugins = {name for kind in KINDS for name in plugin_manager().names(kind)}
    return first_cells | {f"properties.{name}" for name in first_cells} | choices | plugins


def is_declared(name: str, names: set[str]) -> bool:
    if name in names | NOT_OURS | UNSUPPORTED_OPTIONS.keys() or name.split(".")[0].startswith("millrace"):
        return True
    without_side = name.removeprefix("key.").removeprefix("value.")
    if name.endswith("*"):
        return any(each.startswith((name[:-1], without_side[:-1])) for each in names)
    return without_side in names


def test_rows_have_one_of_the_statuses() -> None:
    assert {row.status for row in ROWS} <= set(STATUSES)


def test_no_row_of_the_reference_is_missing() -> None:
    assert len(ROWS) == 423


def test_the_overview_counts_the_rows() -> None:
    counted = {page: Counter(row.status for row in rows(page)) for page in PAGES}
    stated = {
        (DOCS / LINK.findall(first)[0][1]).resolve(): [int(number) for number in numbers]
        for first, *numbers in map(cells, table_lines(OVERVIEW.read_text()))
        if "](../tests/reference-parity/" in first
    }
    assert stated == {page: [*(sums[status] for status in STATUSES), sums.total()] for page, sums in counted.items()}
    everything = Counter(row.status for row in ROWS)
    numbers = " | ".join(str(everything[status]) for status in STATUSES)
    assert f"| all | {numbers} | {len(ROWS)} |" in OVERVIEW.read_text()


def test_what_works_is_shown_and_the_rest_has_a_reason() -> None:
    assert [row for row in ROWS if row.status == "works" and not LINK.search(row.here)] == []
    assert [row for row in ROWS if len(row.here) < len("A reason")] == []


@pytest.mark.parametrize("page", [OVERVIEW, *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for text, target in LINK.findall(page.read_text()):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve()
        if not file.is_file() or (anchor and anchor not in anchors(file)):
            broken.append(target)
        elif text.startswith("test_") and f"def {text}(" not in file.read_text():
            broken.append(text)
    assert broken == []


def test_options_are_declared(names: set[str]) -> None:
    used = {
        part.strip()
        for row in ROWS
        if row.status != "planned"
        for code in CODE.findall(f"{row.item} {row.here}")
        for part in code.split(",")
        if DOTTED_OR_HYPHENED.fullmatch(part.strip())
    }
    assert len(used) > 100, "names of options are in code font"
    assert sorted(name for name in used if not is_declared(name, names)) == []


def test_public_names_exist() -> None:
    used = {name for row in ROWS for name in re.findall(r"`(millrace(?:_\w+)?(?:\.\w+)+)`", row.here)}
    assert "millrace.KafkaSource" in used
    for name in used:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_metrics_exist() -> None:
    used = {name for row in ROWS for name in re.findall(r"`([a-z]+[A-Z]\w+)`", row.item)}
    known = {name for each in METRICS for name in each.__dataclass_fields__}
    assert "pendingRecords" in used
    assert [name for name in used if re.sub(r"(?=[A-Z])", "_", name).lower() not in known] == []


def test_methods_of_builders_exist() -> None:
    used = {name for row in ROWS for name in re.findall(r"`(set_\w+)", f"{row.item} {row.here}")}
    serializer = type(millrace.KafkaRecordSerializationSchema.builder())
    builders = (KafkaSourceBuilder, KafkaSinkBuilder, serializer)
    assert [name for name in used - {"set_"} if not any(hasattr(each, name) for each in builders)] == []


def test_options_that_are_planned_are_not_declared(names: set[str]) -> None:
    planned = {name for row in ROWS if row.status == "planned" for name in CODE.findall(row.item)}
    assert {name for name in planned if DOTTED_OR_HYPHENED.fullmatch(name)} & names == set()
