"""Open transactions as a table for people and as JSON for programs."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence

from millrace_cli.tables import new_table, render
from millrace_cli.transactions.open_transactions import OpenTransaction


def table_lines(transactions: Sequence[OpenTransaction], *, coloured: bool) -> list[str]:
    """Render transactions as a table.

    Args:
        transactions: The transactions.
        coloured: For a terminal, in its width and with colours; otherwise one plain line for each transaction.
    """
    table = new_table(coloured=coloured)
    table.add_column("transactional id", overflow="fold")
    for heading in ("state", "began", "open for"):
        table.add_column(heading, no_wrap=True)
    table.add_column("blocks", overflow="fold")
    for transaction in transactions:
        partitions = ", ".join(map(str, transaction.partitions))
        table.add_row(
            transaction.transactional_id,
            transaction.state,
            _began(transaction),
            duration(transaction.open_ms()),
            partitions,
        )
    return render(table, coloured=coloured)


def as_json(transactions: Sequence[OpenTransaction]) -> str:
    """Format transactions as ``millrace transactions list --help`` describes; keys may be added, never changed."""
    return json.dumps(
        {
            "transactions": [
                {
                    "transactional_id": transaction.transactional_id,
                    "state": transaction.state,
                    "began": _began(transaction),
                    "open_seconds": transaction.open_ms() / 1000,
                    "partitions": [
                        {"topic": each.topic, "partition": each.partition} for each in transaction.partitions
                    ],
                }
                for transaction in transactions
            ]
        },
        indent=2,
    )


def duration(millis: int) -> str:
    """Format a duration to the second, as ``1:02:03``."""
    return str(datetime.timedelta(seconds=millis // 1000))


def _began(transaction: OpenTransaction) -> str:
    began = datetime.datetime.fromtimestamp(transaction.began_ms / 1000, datetime.UTC)
    return began.isoformat(timespec="seconds").replace("+00:00", "Z")
