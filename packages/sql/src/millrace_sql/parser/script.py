"""Parse scripts."""

from __future__ import annotations

from dataclasses import replace

from millrace_sql.parser.feeder import StatementFeeder
from millrace_sql.parser.scanner import Script
from millrace_sql.statements import Query, SqlText, Statement


def parse(text: str) -> list[Statement]:
    """Return the statements of a script, in order.

    Args:
        text: Statements with ``;`` between them; the last one may have it or not.

    Raises:
        SqlSyntaxError: A statement is wrong; the first one that is.
    """
    script = Script(text)
    statements: list[Statement] = []
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
    return statements
