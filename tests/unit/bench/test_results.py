"""The file of results, and the page that is written from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import charts, report, results
from bench.cases import CASES
from bench.measure import Result, Series
from bench.results import BenchRun, Line


def line(work: str, millrace: float, spark: float | None = 10.0, **given: object) -> Line:
    other = None if spark is None else Series((spark, spark))
    return Line.of("raw-read", Result(work, "ms", Series((millrace, millrace)), other, **{"target": 2.0} | given))


@pytest.mark.parametrize(
    ("millrace", "at_most", "met"), [(20.0, False, True), (19.0, False, False), (20.0, True, True), (21.0, True, False)]
)
def test_a_ratio_is_held_against_its_target(millrace: float, at_most: bool, met: bool) -> None:
    assert line("work", millrace, at_most=at_most).ratio == millrace / 10
    assert line("work", millrace, at_most=at_most).is_met is met


def test_a_limit_without_a_ratio_holds_for_every_run() -> None:
    def memory(*values: float) -> Line:
        return Line.of("worker-memory", Result("memory", "MB", Series(values), None, target=350, at_most=True))

    assert memory(100.0, 350.0).is_met
    assert not memory(100.0, 100.0, 351.0).is_met


def test_a_line_without_a_target_is_shown_only() -> None:
    assert line("latency", 70.0, 4.0, target=None).is_met is None


def test_what_is_measured_again_is_replaced_and_keeps_its_machine_and_command(tmp_path: Path) -> None:
    first = BenchRun("2026-01-01", "a", {"Cores": "2"}, (line("one", 1), line("two", 2)), "a note")
    second = BenchRun("2026-01-02", "b", {"Cores": "4"}, (line("two", 3),))
    third = BenchRun("2026-01-03", "c", {}, (line("one", 4),))

    runs = results.add(results.add((first,), second), third)

    results.save(runs, tmp_path / "results.json")
    assert results.load(tmp_path / "results.json") == (second, third)
    page = report.page(runs)
    assert "On 2026-01-02, by `b`." in page
    assert "a note" not in page


def test_the_page_is_what_the_file_says() -> None:
    runs = results.load()
    assert report.PAGE.read_text() == report.page(runs), "run: python -m bench.report"
    drawn = {charts.FOLDER / f"{chart.name}.svg": str(charts.draw(chart)) for chart in charts.charts(runs)}
    assert {file: file.read_text() for file in charts.FOLDER.glob("*")} == drawn, "run: python -m bench.report"
    assert len(drawn) == 3
    assert {line.case for run in runs for line in run.lines} <= CASES.keys()
    assert len([text for text in report.page(runs).split("\n\n")[2].splitlines() if "met |" in text]) == 10
