"""The metrics reporter ``prometheus``: serve metrics and health on a port of the driver, without a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from millrace.contracts import MetricsReporter, QueryReport
from millrace.options import option
from millrace_ui.prometheus import Exposition
from millrace_ui.query_history import Histories
from millrace_ui.server import Server
from millrace_ui.web_application import Settings, metrics_application


@dataclass(frozen=True)
class PrometheusOptions:
    """The options of the reporter ``prometheus``."""

    host: str = option("host", default="127.0.0.1", doc="The address to listen on; Prometheus must reach it.")
    port: Annotated[int, Ge(0), Le(65535)] = option("port", default=9464, doc="The port; 0 takes a free one.")
    max_partitions: Annotated[int, Ge(0)] = option(
        "max-partitions",
        default=200,
        doc="The number of a query's partitions above which they are added up by topic.",
    )
    lag_exporter_names: bool = option(
        "lag-exporter-names",
        default=False,
        doc="Show the lag as kafka_consumergroup_group_lag and kafka_consumergroup_lag, too, with the query as group.",
    )
    cluster_name: str = option(
        "cluster-name",
        default="kafka",
        doc="The label cluster_name of kafka_consumergroup_group_lag, by which its dashboards choose a cluster.",
    )
    client_metrics: bool = option(
        "client-metrics",
        default=False,
        doc="Show the metrics of Kafka's clients, too: each client has labels of its own.",
    )
    stalled_after_s: Annotated[int, Ge(1)] = option(
        "stalled-after-s",
        default=300,
        doc="The seconds without progress after which /healthz reports a query that has something to read. Longer than "
        "the interval of its trigger.",
    )


class PrometheusReporter(MetricsReporter):
    """Serve ``/metrics`` and ``/healthz``."""

    Options = PrometheusOptions
    options: PrometheusOptions

    def open(self) -> None:
        """Listen on the port.

        Raises:
            OptionsError: The port is taken, or this machine has no such address.
        """
        options = self.options
        exposition = Exposition(
            options.max_partitions, options.lag_exporter_names, options.cluster_name, options.client_metrics
        )
        self._histories = Histories()
        application = metrics_application(self._histories, Settings(exposition, options.stalled_after_s))
        self._server = Server(application, options.host, options.port, "metrics reporter 'prometheus'")

    @property
    def url(self) -> str:
        """The address of the metrics."""
        return f"{self._server.url}metrics"

    def report(self, report: QueryReport) -> None:
        """Keep the report until Prometheus asks."""
        self._histories.add(report)

    def close(self) -> None:
        """Stop listening."""
        self._server.close()
