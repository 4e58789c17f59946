"""`millrace demo`: records through Kafka and Spark, shown live."""

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
@click.option("--plain", is_flag=True, help="Plain lines instead of a live display, as where there is no terminal.")
def demo(seconds: float, plain: bool) -> None:
    """Run a streaming query from one Kafka topic to another, and watch it.

    Starts a real Kafka on this machine, sends a stream of orders to a topic, sums up their revenue with Spark, writes
    the results to a second topic, and reads them from there. Ctrl-C ends it early. At the end it prints the Python of
    the pipeline to copy.
    """
    from millrace_cli.demo.interrupts import Interrupts

    # Before what takes long to import, so that Ctrl-C ends the demo cleanly from the first moment on
    with Interrupts() as interrupts:
        from millrace_cli.demo.run import run_demo

        run_demo(seconds, plain, interrupts)
