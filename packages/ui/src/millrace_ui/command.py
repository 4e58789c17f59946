"""``millrace ui``: the live page of a Kafka cluster's topics, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import click

from millrace_cli.connection import connection_options, java_properties, require_brokers


@click.command()
@connection_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=4050, show_default=True, help="The port; 0 takes a free one."
)
@click.option(
    "--token",
    envvar="MILLRACE_UI_TOKEN",
    help="The token that the page asks for; needed for an address that other machines reach.",
)
@click.option("--no-payloads", is_flag=True, help="Show no keys and values of messages.")
def ui(
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    host: str,
    port: int,
    token: str | None,
    no_payloads: bool,
) -> None:
    """Show the topics of a Kafka cluster on a live page, until Ctrl-C.

    The page has topics with their partitions and consumer groups, messages, and the checks of millrace doctor. It only
    reads, and joins no group. For the queries of a Spark session, call millrace.ui(spark) in its program.
    """
    from millrace.errors import OptionsError
    from millrace_ui.live_page import LOOPBACK, serve
    from millrace_ui.page_data import PageData
    from millrace_ui.query_history import Histories

    if host not in LOOPBACK and not token:
        raise OptionsError("page", (f"--host {host}: other machines reach it, so give a --token",))
    kafka = require_brokers(java_properties(bootstrap_servers, config, properties))
    data = PageData(Histories(), kafka=kafka, shows_payloads=not no_payloads)
    server = serve(data, host, port, token)
    try:
        click.echo(f"the live page is at {server.url}{'' if token is None else f'?token={token}'}; Ctrl-C ends it")
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        data.is_closing = True
        server.close()
