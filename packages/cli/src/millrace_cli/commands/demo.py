"""``millrace demo``: run a streaming query from one topic to another, shown live."""

from __future__ import annotations

import click


@click.command()
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="How long to show results, from the first one on.",
)
@click.option(
    "--plain", is_flag=True, help="Print plain lines instead of a live display; the default without a terminal."
)
def demo(seconds: float, plain: bool) -> None:
    """Run a streaming query on this machine and watch it.

    Starts a real Kafka and produces orders to a topic. Spark filters them, computes their revenue and writes them to a
    second topic, whose totals by country are shown. Ctrl-C ends it early. At the end it prints the Python source of the
    pipeline.
    """
    from millrace_cli.demo.interrupts import Interrupts

    # Before the slow imports, so that Ctrl-C ends the demo cleanly from the first moment on
    with Interrupts() as interrupts:
        from millrace_cli.demo.run import run_demo

        run_demo(seconds, plain, interrupts)
