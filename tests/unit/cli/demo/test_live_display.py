import dataclasses
import io

from rich.console import Console

from millrace_cli.demo.live_display import LiveDisplay, dashboard


def drawn(snapshot):
    console = Console(file=io.StringIO(), width=80)
    console.print(dashboard(snapshot))
    return console.file.getvalue()


def test_the_dashboard_has_rates_lag_and_totals(snapshot):
    text = drawn(snapshot)
    for part in (
        "53 s left",
        "3,457/s",
        "3,318/s",
        "28,123",
        "431 ms",
        "orders-1",
        "1,200",
        "DE",
        "12,345.50",
        "321",
    ):
        assert part in text


def test_the_bar_of_a_partition_grows_with_its_lag(snapshot):
    assert drawn(snapshot).count("█") == 3  # 1,200 of 5,000 rows are 2.4 of 10 cells
    full = dataclasses.replace(snapshot, lag={("orders", 0): 99_000})
    assert drawn(full).count("█") == 10


def test_before_the_first_result_it_says_what_it_waits_for(snapshot):
    assert "waiting for the first result" in drawn(dataclasses.replace(snapshot, seconds=None))


def test_it_fits_a_small_terminal(snapshot):
    eight = dataclasses.replace(
        snapshot, totals=snapshot.totals * 8, lag={("orders", number): 1 for number in range(4)}
    )
    assert len(drawn(eight).splitlines()) < 24
    assert "…" not in drawn(eight)


def test_a_long_line_is_not_broken(snapshot):
    stream = io.StringIO()
    with LiveDisplay(stream) as display:
        display.say("x" * 500)
    assert "x" * 500 in stream.getvalue()


def test_lines_that_stay_are_written_to_the_terminal(snapshot):
    stream = io.StringIO()
    with LiveDisplay(stream) as display:
        display.show(snapshot)
        display.say("stopping [now]")
    assert "stopping [now]" in stream.getvalue()
