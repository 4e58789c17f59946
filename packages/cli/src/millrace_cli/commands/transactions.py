"""``millrace transactions``: list and abort transactions that a dead query left open."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace_cli.connection import client_properties, connection_options
from millrace_cli.errors import CommandError

if TYPE_CHECKING:
    from millrace.options.secrets import Properties
    from millrace_cli.transactions.open_transactions import OpenTransaction

_prefix_option = click.option(
    "--prefix",
    required=True,
    metavar="PREFIX",
    callback=lambda _context, _option, value: _check_prefix(value),
    help="The query's sink.transactional-id-prefix.",
)


@click.group()
def transactions() -> None:
    """List and abort transactions that a dead query left open.

    Readers of committed records (read_committed) wait at an open transaction until the broker aborts it after its
    transaction.timeout.ms.
    """


@transactions.command("list")
@_prefix_option
@connection_options
@click.option("--json", "wants_json", is_flag=True, help="Print JSON, for programs.")
def list_open(
    prefix: str, bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str], wants_json: bool
) -> None:
    """List the open transactions of a query's tasks: those whose id is PREFIX, '-' and digits.

    The user needs the permission to describe these transactional ids; brokers omit others without an error.

    \b
    --json prints one object:
      transactions  list of {transactional_id, state, began, open_seconds,
                    partitions}; began is in ISO 8601, partitions a list of
                    {topic, partition} where readers wait
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    from millrace_cli.transactions.open_transactions import open_transactions
    from millrace_cli.transactions.table import as_json

    found = open_transactions(client_properties(bootstrap_servers, config, properties), prefix)
    if wants_json:
        click.echo(as_json(found))
    elif found:
        _show(found)
    else:
        click.echo(_none_message(prefix))


@transactions.command("abort")
@_prefix_option
@connection_options
@click.option(
    "--older-than",
    "older_than_ms",
    default="60s",
    show_default=True,
    metavar="DURATION",
    callback=lambda _context, _option, value: _parse_duration(value),
    help="Skip younger transactions, such as those of a running query; 0s aborts all.",
)
@click.option("--yes", is_flag=True, help="Abort without confirmation.")
def abort_open(
    prefix: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    older_than_ms: int,
    yes: bool,
) -> None:
    """Abort the open transactions of a query that has ended.

    The command takes over their transactional ids, which must be PREFIX, '-' and digits. Stop the query first, because
    the tasks of a running query would fail. A transaction whose commit has begun is committed instead.

    The exit code is 0 if no transaction of the prefix is still open, 1 otherwise.
    """
    from millrace_cli.transactions.open_transactions import open_transactions, unchanged

    client = client_properties(bootstrap_servers, config, properties)
    found = open_transactions(client, prefix)
    if not found:
        click.echo(_none_message(prefix))
        return
    chosen = [transaction for transaction in found if transaction.open_ms() >= older_than_ms]
    if chosen:
        _show(chosen)
        if not yes:
            _confirm(len(chosen))
            # The query may have been restarted in the meantime, with new transactions under the same ids
            found = open_transactions(client, prefix)
            chosen = unchanged(chosen, found)
        _abort(client, chosen)
    remaining = [transaction for transaction in found if transaction not in chosen]
    if remaining:
        raise CommandError(_refusal(remaining, older_than_ms, confirmed=not yes))


def _confirm(count: int) -> None:
    if not sys.stdin.isatty():
        raise CommandError("nothing was aborted: there is no terminal to confirm at; give --yes to abort these")
    try:
        confirmed = click.confirm(f"abort {_these(count)}?")
    except click.Abort:
        # Ctrl-C or Ctrl-D; click itself would print "Aborted!"
        confirmed = False
    if not confirmed:
        raise CommandError("nothing was aborted")


def _abort(client: Properties, chosen: Sequence[OpenTransaction]) -> None:
    from millrace_cli.transactions.open_transactions import PREPARE_COMMIT, abort_all

    failures = []
    for transaction, error in abort_all(client, chosen):
        if error:
            failures.append(f"{transaction.transactional_id} could not be aborted: {error}")
        elif transaction.state == PREPARE_COMMIT:
            click.echo(f"committed {transaction.transactional_id}, whose commit had begun")
        else:
            click.echo(f"aborted {transaction.transactional_id}")
    if not chosen:
        click.echo("nothing was aborted: the transactions have ended in the meantime")
    if failures:
        raise CommandError("\n".join(failures))


def _refusal(remaining: Sequence[OpenTransaction], older_than_ms: int, *, confirmed: bool) -> str:
    names = ", ".join(transaction.transactional_id for transaction in remaining)
    young = f"less than {older_than_ms / 1000:g} s ago" if older_than_ms else ""
    newer = "after the confirmation was asked for" if confirmed else ""
    return (
        f"not aborted, since they began {' or '.join(filter(None, (young, newer)))}, as the transactions of a live "
        f"query do: {names}. Stop the query and try again later, or give --older-than 0s"
    )


def _show(transactions: Sequence[OpenTransaction]) -> None:
    from millrace_cli.transactions.table import table_lines

    for line in table_lines(transactions, coloured=sys.stdout.isatty()):
        click.echo(line)


def _none_message(prefix: str) -> str:
    return f"no open transactions with prefix {prefix}"


def _these(count: int) -> str:
    return "this transaction" if count == 1 else f"these {count} transactions"


def _check_prefix(prefix: str) -> str:
    if not prefix.strip():
        raise click.BadParameter("the prefix is empty; expected the query's sink.transactional-id-prefix")
    return prefix


def _parse_duration(text: str) -> int:
    from millrace.options.values import parse_duration_ms

    try:
        millis = parse_duration_ms(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}; got {text!r}") from None
    # A number without a unit would be milliseconds, which hardly anyone means by 60
    if millis < 0 or (millis and text.strip().isdecimal()):
        raise click.BadParameter(f"expected a duration with its unit, such as 60s; got {text!r}")
    return millis
