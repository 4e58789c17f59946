"""From the text of a script to its statements, and back.

The grammar is ``sql.lark``.
"""

from millrace_sql.parser.script import parse

__all__ = ["parse"]
