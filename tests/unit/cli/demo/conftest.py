import pytest

from millrace_cli.demo.display import Snapshot
from millrace_cli.demo.sales_reader import CountryTotal


@pytest.fixture
def snapshot():
    return Snapshot(
        seconds=7.4,
        of_seconds=60,
        sent=30_000,
        rows_in=28_123,
        rows_in_rate=3_456.7,
        rows_out=26_998,
        rows_out_rate=3_318.4,
        batches=12,
        batch_ms=431,
        lag={("orders", 1): 1_200, ("orders", 0): 0},
        totals=(CountryTotal("DE", 321, 12_345.5),),
    )
