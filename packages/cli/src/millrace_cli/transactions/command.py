"""`millrace transactions`: what a dead query left open, and its end."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace_cli.connection import connection, connection_options
from millrace_cli.errors import CommandError

if TYPE_CHECKING:
    from millrace.options.secrets import Properties
    from millrace_cli.transactions.open_transactions import OpenTransaction

_prefix_option = click.option(
    "--prefix",
    required=True,
    metavar="PREFIX",
    callback=lambda _context, _option, given: _not_empty(given),
    help="The query's sink.transactional-id-prefix.",
)


@click.group()
def transactions() -> None:
    """Find and abort transactions that a dead query left open.

    Readers of committed records (read_committed) wait before an open transaction, until the broker ends it by itself
    after its transaction.timeout.ms.
    """


@transactions.command("list")
@_prefix_option
@connection_options
@click.option("--json", "wants_json", is_flag=True, help="As JSON, for programs.")
def list_open(
    prefix: str, bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str], wants_json: bool
) -> None:
    """List the open transactions of a query's tasks: ids that are PREFIX, '-' and digits.

    The user needs the permission to describe these transactional ids; others are not listed, without an error.

    \b
    --json prints one object:
      transactions  list of {transactional_id, state, began, open_seconds,
                    partitions}; began is in ISO 8601, partitions a list of
                    {topic, partition}: those where readers wait
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    from millrace_cli.transactions.open_transactions import open_transactions
    from millrace_cli.transactions.table import as_json

    found = open_transactions(connection(bootstrap_servers, config, properties), prefix)
    if wants_json:
        click.echo(as_json(found))
    elif found:
        _show(found)
    else:
        click.echo(_none(prefix))


@transactions.command("abort")
@_prefix_option
@connection_options
@click.option(
    "--older-than",
    "older_than_ms",
    default="60s",
    show_default=True,
    metavar="DURATION",
    callback=lambda _context, _option, given: _millis(given),
    help="Leave alone what began later than that, as transactions of a live query do; 0s for none.",
)
@click.option("--yes", is_flag=True, help="Abort without asking.")
def abort_open(
    prefix: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    older_than_ms: int,
    yes: bool,
) -> None:
    """Abort the open transactions of a query that has ended.

    Takes over their transactional ids, which must be PREFIX, '-' and digits. The tasks of a query that still runs fail
    by it: stop it first. A commit that has begun already is brought to its end instead.

    Exit code 0 when no transaction of the prefix is left open, 1 otherwise.
    """
    from millrace_cli.transactions.open_transactions import open_transactions, unchanged

    client = connection(bootstrap_servers, config, properties)
    found = open_transactions(client, prefix)
    if not found:
        click.echo(_none(prefix))
        return
    chosen = [each for each in found if each.open_ms() >= older_than_ms]
    if chosen:
        _show(chosen)
        if not yes:
            _ask(len(chosen))
            # The query may have been started again meanwhile, with new transactions under the same ids
            found = open_transactions(client, prefix)
            chosen = unchanged(chosen, found)
        _end(client, chosen)
    left = [each for each in found if each not in chosen]
    if left:
        raise CommandError(_refusal(left, older_than_ms, asked=not yes))


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise CommandError("nothing was aborted: there is no terminal to ask at; give --yes to abort these")
    try:
        agreed = click.confirm(f"abort {_transactions(count)}?")
    except click.Abort:
        # Ctrl-C or Ctrl-D; click itself would say "Aborted!"
        agreed = False
    if not agreed:
        raise CommandError("nothing was aborted")


def _end(client: Properties, chosen: Sequence[OpenTransaction]) -> None:
    from millrace_cli.transactions.open_transactions import PREPARE_COMMIT, abort_all

    failures = []
    for each, error in abort_all(client, chosen):
        if error:
            failures.append(f"{each.transactional_id} could not be ended: {error}")
        elif each.state == PREPARE_COMMIT:
            click.echo(f"committed {each.transactional_id}, whose commit had begun")
        else:
            click.echo(f"aborted {each.transactional_id}")
    if not chosen:
        click.echo("nothing was aborted: they have ended by themselves")
    if failures:
        raise CommandError("\n".join(failures))


def _refusal(left: Sequence[OpenTransaction], older_than_ms: int, *, asked: bool) -> str:
    names = ", ".join(each.transactional_id for each in left)
    began = f"less than {older_than_ms / 1000:g} s ago" if older_than_ms else ""
    later = "after the question was asked" if asked else ""
    return (
        f"not aborted, since they began {' or '.join(filter(None, (began, later)))}, as the transactions of a live "
        f"query do: {names}. Stop the query and try again later, or give --older-than 0s"
    )


def _show(found: Sequence[OpenTransaction]) -> None:
    from millrace_cli.transactions.table import table_lines

    for line in table_lines(found, coloured=sys.stdout.isatty()):
        click.echo(line)


def _none(prefix: str) -> str:
    return f"no open transactions with prefix {prefix}"


def _transactions(count: int) -> str:
    return "this transaction" if count == 1 else f"these {count} transactions"


def _not_empty(prefix: str) -> str:
    if not prefix.strip():
        raise click.BadParameter("it is empty; expected the query's sink.transactional-id-prefix")
    return prefix


def _millis(text: str) -> int:
    from millrace.options.values import parse_duration_ms

    try:
        millis = parse_duration_ms(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}; got {text!r}") from None
    # Without a unit it would be milliseconds, which who writes 60 does not mean
    if millis < 0 or (millis and text.strip().isdecimal()):
        raise click.BadParameter(f"expected a duration with its unit, such as 60s; got {text!r}")
    return millis
