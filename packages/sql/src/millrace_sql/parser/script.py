"""Parse scripts."""

from __future__ import annotations

from dataclasses import replace

from millrace_sql.errors import SqlSyntaxError, UnfinishedSqlError
from millrace_sql.parser.feeder import StatementFeeder
from millrace_sql.parser.scanner import Script
from millrace_sql.script_texts import SqlText
from millrace_sql.statements import Query, Statement


def parse(text: str) -> list[Statement]:
    """Return the statements of a script, in order.

    Args:
        text: Statements with ``;`` between them; the last one may have it or not.

    Raises:
        UnfinishedSqlError: The script ends within a statement.
        SqlSyntaxError: A statement is wrong; the first one that is.
    """
    statements, _ = _parse(Script(text))
    return statements


def is_complete(text: str) -> bool:
    """Return whether a script can be executed as it is: its last statement ends with ``;``, or one is wrong.

    An interactive shell asks for another line until it is.
    """
    try:
        _, is_ended = _parse(Script(text))
    except UnfinishedSqlError:
        return False
    except SqlSyntaxError:
        return True
    return is_ended


def _parse(script: Script) -> tuple[list[Statement], bool]:
    """Return the statements of a script, and whether ``;`` stands behind the last one."""
    statements: list[Statement] = []
    is_ended = True
    offset = 0
    while (token := script.scan(offset)).kind != "end":
        if token.text == ";":
            offset = token.end
            continue
        feeder = StatementFeeder(script, token.start)
        statement = feeder.run()
        position = script.position(token.start)
        if isinstance(statement, SqlText):
            statements.append(Query(statement, position))
        else:
            statements.append(replace(statement, position=position))
        offset = feeder.offset
        is_ended = feeder.is_ended
    return statements, is_ended
