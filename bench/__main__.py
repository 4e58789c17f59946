"""The command: ``python -m bench``, from the folder above."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from bench import report, results
from bench.cases import CASES
from bench.distance import DISTANCES_MS, start_broker
from bench.environment import environment
from bench.measure import Bench
from bench.session import start_session
from bench.tls import make_tls
from bench.topics import Topics

RECORDS = 2_000_000
RUNS = 5


def main() -> None:
    """Measure, print the table, store the results and write their page."""
    arguments = _arguments()
    # Deleted topics would otherwise fill the disk for another minute
    quick = {"log.segment.delete.delay.ms": "1000"}
    with ExitStack() as stack:
        tls = make_tls(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        broker, far = stack.enter_context(start_broker(quick, tls.listener))
        spark = start_session()
        try:
            bench = Bench(
                spark,
                broker.bootstrap_servers,
                Topics(broker, arguments.records),
                records=arguments.records,
                runs=arguments.runs,
                warm_ups=arguments.warm_ups,
                batches=arguments.batches,
                tls_servers=broker.address("TLS"),
                tls_client=tls.client,
                far=far,
                distances_ms=tuple(arguments.distance or DISTANCES_MS),
            )
            lines = [results.Line.of(name, result) for name in arguments.only or CASES for result in CASES[name](bench)]
        finally:
            spark.stop()
        report.show(lines)
        machine = environment(broker)
    if arguments.store or _is_full(arguments):
        command = shlex.join(["python", "-m", "bench", *sys.argv[1:]])
        run = results.BenchRun(f"{datetime.now(UTC):%Y-%m-%d}", command, machine, tuple(lines))
        runs = results.add(results.load(), run)
        results.save(runs)
        report.write(runs)
        print(f"written to {results.FILE} and {report.PAGE}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure millrace beside Spark's own connector"
    )
    parser.add_argument("--records", type=int, default=RECORDS, help=f"records in a topic ({RECORDS:,})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"measured runs of each connector ({RUNS})")
    parser.add_argument("--warm-ups", type=int, default=2, help="runs of each before those (2)")
    parser.add_argument("--batches", type=int, default=60, help="micro-batches in a run (60)")
    parser.add_argument(
        "--distance",
        type=int,
        action="append",
        help="a round trip to brokers over a network in ms; may be repeated (0, 1, 10)",
    )
    parser.add_argument("--only", action="append", choices=list(CASES), help="measure this alone; may be repeated")
    parser.add_argument(
        "--store", action="store_true", help="add the results to bench/results.json, as a run of all in full does"
    )
    return parser.parse_args()


def _is_full(arguments: argparse.Namespace) -> bool:
    # A quick look must not replace what a full run found
    return not arguments.only and arguments.records >= RECORDS and arguments.runs >= RUNS


if __name__ == "__main__":
    main()
