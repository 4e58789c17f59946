import pytest

from millrace_cli.demo.display import Snapshot
from millrace_cli.demo.result_reader import Result


@pytest.fixture
def snapshot():
    return Snapshot(
        seconds=7.4,
        of_seconds=60,
        sent=30_000,
        rows_in=28_123,
        rows_in_rate=3_456.7,
        rows_out=48,
        rows_out_rate=1.64,
        batches=12,
        batch_ms=431,
        lag={("orders", 1): 1_200, ("orders", 0): 0},
        newest=(Result("2026-03-01 12:00:05Z", "2026-03-01 12:00:10Z", "DE", 321, 12_345.5),),
    )
