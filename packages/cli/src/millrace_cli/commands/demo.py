"""``millrace demo``: run a streaming query from one topic to another, and show what flows."""

from __future__ import annotations

import click

from millrace_cli.parameters import page_options


@click.command()
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="How long to show results, from the first one on.",
)
@page_options(is_on=True, port=0)
def demo(seconds: float, ui_port: int | None) -> None:
    """Run a streaming query on this machine and watch it.

    Starts a real Kafka and produces orders to a topic. Spark filters them, computes their revenue and writes them to a
    second topic. Rates, lag and the newest sale are printed every two seconds, and a live page shows them where
    millrace-ui is installed. Ctrl-C ends it early. At the end it
    prints the Python source of the pipeline.
    """
    from millrace_cli.demo.run import StopRequests, run_demo

    run_demo(seconds, StopRequests(), ui_port)
