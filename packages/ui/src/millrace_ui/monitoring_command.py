"""``millrace monitoring``: print what Grafana and Prometheus need to know of millrace's metrics."""

from __future__ import annotations

import click


@click.group()
def monitoring() -> None:
    """Print a dashboard for Grafana, or alerts for Prometheus."""


@monitoring.command()
def dashboard() -> None:
    """Print a dashboard of all metrics, to import into Grafana.

    It asks for the Prometheus data source that has them.
    """
    import json

    from millrace_ui.grafana import dashboard

    click.echo(json.dumps(dashboard(), indent=2))


@monitoring.command()
def alerts() -> None:
    """Print alerts, as a file that rule_files of Prometheus names."""
    from millrace_ui.alert_rules import rules_file

    click.echo(rules_file(), nl=False)
