"""Run a cell of SQL as a notebook does, and show a chart of the lag; the argument is the cell."""

from __future__ import annotations

import sys

from IPython.core.interactiveshell import InteractiveShell

COUNT = "SELECT COUNT(*) AS n, MAX(name) AS last FROM names"

shell = InteractiveShell.instance()
for source in (
    "%load_ext millrace_sql",
    f"%%millrace\n{sys.argv[1]}",
    # The environment that the cell has made
    f"print(list(table_env.execute_sql({COUNT!r}).collect()))",
    "import millrace_ui; print(millrace_ui.LagChart('id-1', 'copied-orders').shown['state'])",
):
    shell.run_cell(source).raise_error()
