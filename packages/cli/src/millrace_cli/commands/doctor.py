"""``millrace doctor``: look for what keeps queries from reaching Kafka."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace.wording import counted
from millrace_cli.connection import connection_options, java_properties

if TYPE_CHECKING:
    from collections.abc import Iterable

    from millrace.diagnosis.findings import Diagnosis, Finding

_MARKS = {"ok": "ok     ", "warning": "WARNING", "error": "ERROR  "}


@click.command()
@connection_options
@click.option("--topic", "topics", multiple=True, help="Topic that is read; repeatable.")
@click.option("--write-topic", "written_topics", multiple=True, help="Topic that is written; repeatable.")
@click.option("--group", default="", help="Consumer group.")
@click.option("--transactional-id-prefix", default="", help="Value of 'sink.transactional-id-prefix'.")
@click.option("--metrics-address", default="127.0.0.1", show_default=True, help="Value of 'scan.metrics.address'.")
@click.option("--master", metavar="URL", help="Also check from the executors of this cluster; local[2] to try it out.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def doctor(
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    topics: tuple[str, ...],
    written_topics: tuple[str, ...],
    group: str,
    transactional_id_prefix: str,
    metrics_address: str,
    master: str | None,
    as_json: bool,
) -> None:
    """Check step by step everything that a query needs, and say how to fix problems.

    It checks Java, Python, packages, clock and ports. With --bootstrap-servers or --config, it also checks host name,
    port, TLS and login of every broker, the brokers' advertised addresses, their clock, and this user's permissions. It
    reads and writes no records; to test a transactional id prefix, it uses a separate id. The exit code is 0 without
    problems or with warnings only, 1 with errors, and 2 for an invalid command line.

    \b
    --json prints one object:
      sound     whether the exit code is 0
      findings  list of {check, target, level, message, remedy, seen_from};
                level is ok, warning or error
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    from millrace.diagnosis.run import diagnose
    from millrace.spark_python import environment_at_import

    java = java_properties(bootstrap_servers, config, properties)
    with ExitStack() as stack:
        spark = None
        if master is not None:
            from millrace import local_session

            spark = local_session("millrace doctor", config={"spark.master": master}, progress=False)
            stack.callback(spark.stop)
        diagnosis = diagnose(
            java,
            topics=topics,
            written_topics=written_topics,
            group=group or java.get("group.id", ""),
            transactional_id_prefix=transactional_id_prefix,
            metrics_address=metrics_address,
            spark=spark,
            # The programs to check may not import millrace, as this one does
            environment=environment_at_import(),
        )
    click.echo(diagnosis.to_json() if as_json else "\n".join(_lines(diagnosis)))
    sys.exit(0 if diagnosis.is_sound else 1)


def _lines(diagnosis: Diagnosis) -> Iterable[str]:
    from millrace_cli.tables import printable

    for finding in diagnosis.findings:
        yield printable(_line(finding))
        if finding.remedy:
            yield printable(f"         -> {finding.remedy}")
    errors = len([problem for problem in diagnosis.problems if problem.level == "error"])
    warnings = len(diagnosis.problems) - errors
    yield f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"


def _line(finding: Finding) -> str:
    place = "" if finding.seen_from == "driver" else f" [from {finding.seen_from}]"
    return f"{_MARKS[finding.level]} {finding.check}: {finding.target}: {finding.message}{place}"
