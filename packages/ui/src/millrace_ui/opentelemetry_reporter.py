"""The metrics reporter ``opentelemetry``: give metrics and spans to the SDK that the program has set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

import millrace
from millrace.contracts import MetricsReporter, QueryReport
from millrace.errors import MachineError
from millrace.options import option
from millrace_ui.query_history import Histories

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


@dataclass(frozen=True)
class OpenTelemetryOptions:
    """The options of the reporter ``opentelemetry``."""

    spans: bool = option("spans", default=True, doc="Whether each micro-batch is a span, with its phases as children.")
    max_partitions: Annotated[int, Ge(0)] = option(
        "max-partitions",
        default=200,
        doc="The number of a query's partitions above which they are added up by topic.",
    )
    client_metrics: bool = option(
        "client-metrics",
        default=False,
        doc="Export the metrics of Kafka's clients, too: each client has attributes of its own.",
    )
    max_links: Annotated[int, Ge(0), Le(128)] = option(
        "max-links",
        default=0,
        doc="The number of a micro-batch's messages, at most, whose traces its span links to: by their header "
        "traceparent, where its flag says that the trace is sampled. With 0, executors read no headers.",
    )

    def __post_init__(self) -> None:
        if self.max_links and not self.spans:
            raise ValueError("option 'max-links' requires 'spans' = 'true', since links are of spans")


class OpenTelemetryReporter(MetricsReporter):
    """Export metrics when the SDK asks for them, and micro-batches as spans when they have ended."""

    Options = OpenTelemetryOptions
    options: OpenTelemetryOptions

    @property
    def max_trace_links(self) -> int:
        """The number of links of a span, at most."""
        return self.options.max_links

    def open(self) -> None:
        """Create the instruments.

        Raises:
            MachineError: The API of OpenTelemetry is not installed.
        """
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise MachineError(
                "metrics reporter 'opentelemetry' needs OpenTelemetry; install it with: pip install "
                "'millrace-ui[opentelemetry]' opentelemetry-sdk"
            ) from error
        from millrace_ui.opentelemetry_metrics import OBSERVED, Observed, create_instruments

        self._tracer: Tracer = trace.get_tracer("millrace", millrace.__version__)
        self._histories = Histories()
        self._observed = Observed(
            self._histories, self.options.max_partitions, with_clients=self.options.client_metrics
        )
        OBSERVED.append(self._observed)
        create_instruments(metrics.get_meter_provider())

    def report(self, report: QueryReport) -> None:
        """Keep the report until the SDK asks for metrics, and make spans of a micro-batch."""
        self._histories.add(report)
        if not self.options.spans:
            return
        from millrace_ui.micro_batch_spans import export_failure, export_micro_batch

        if report.has_run:
            export_micro_batch(self._tracer, report)
        elif report.error is not None:
            export_failure(self._tracer, report)

    def close(self) -> None:
        """Export no more. Nothing happens the second time."""
        from millrace_ui.opentelemetry_metrics import OBSERVED

        if self._observed in OBSERVED:
            OBSERVED.remove(self._observed)
