"""SQL tables on Spark: definitions, statements and the changelogs that their queries pass on.

Run a statement::

    from millrace_sql import TableEnvironment

    env = TableEnvironment(spark)
    env.execute_sql("CREATE TABLE orders (id BIGINT, amount DOUBLE) WITH ('connector' = 'kafka', ...)")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from millrace_catalog.user_functions.declared import udf, udtf
    from millrace_sql.environment import TableEnvironment
    from millrace_sql.errors import SqlError, SqlSyntaxError
    from millrace_sql.execution.results import TableResult
    from millrace_sql.statement_set import StatementSet

__all__ = ["SqlError", "SqlSyntaxError", "StatementSet", "TableEnvironment", "TableResult", "udf", "udtf"]


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Add the cell magic ``%%millrace``; IPython calls it for ``%load_ext millrace_sql``."""
    from millrace_sql.shell.magic import SqlMagics

    ipython.register_magics(SqlMagics)


__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace_catalog.user_functions.declared": ["udf", "udtf"],
        "millrace_sql.environment": ["TableEnvironment"],
        "millrace_sql.errors": ["SqlError", "SqlSyntaxError"],
        "millrace_sql.execution.results": ["TableResult"],
        "millrace_sql.statement_set": ["StatementSet"],
    },
)
