"""Open transactions, for people and for programs."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from millrace_cli.transactions.open_transactions import OpenTransaction

_PIPE_WIDTH = 100_000
"""Characters; where nobody looks at a terminal, a row is one line whatever its length."""


def table_lines(transactions: Sequence[OpenTransaction], *, coloured: bool) -> list[str]:
    """The table, line by line.

    Args:
        transactions: What to show.
        coloured: For a terminal: in its width and with colours. Otherwise one plain line for each transaction.
    """
    table = Table(box=box.SIMPLE_HEAD if coloured else None, pad_edge=False, header_style="bold")
    table.add_column("transactional id", overflow="fold")
    for heading in ("state", "began", "open for"):
        table.add_column(heading, no_wrap=True)
    table.add_column("blocks", overflow="fold")
    for each in transactions:
        partitions = ", ".join(map(str, each.partitions))
        table.add_row(each.transactional_id, each.state, _began(each), duration(each.open_ms()), partitions)
    console = Console() if coloured else Console(file=io.StringIO(), width=_PIPE_WIDTH)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def as_json(transactions: Sequence[OpenTransaction]) -> str:
    """The shape that ``millrace transactions list --help`` describes; keys may be added, never changed."""
    return json.dumps(
        {
            "transactions": [
                {
                    "transactional_id": each.transactional_id,
                    "state": each.state,
                    "began": _began(each),
                    "open_seconds": each.open_ms() / 1000,
                    "partitions": [{"topic": at.topic, "partition": at.partition} for at in each.partitions],
                }
                for each in transactions
            ]
        },
        indent=2,
    )


def duration(millis: int) -> str:
    """A duration to the second, as ``1:02:03``."""
    return str(datetime.timedelta(seconds=millis // 1000))


def _began(transaction: OpenTransaction) -> str:
    began = datetime.datetime.fromtimestamp(transaction.began_ms / 1000, datetime.UTC)
    return began.isoformat(timespec="seconds").replace("+00:00", "Z")
