"""From the text of a script to its statements, and back.

The grammar is ``sql.lark``.
"""

from millrace_sql.parser.script import is_complete, parse

__all__ = ["is_complete", "parse"]
