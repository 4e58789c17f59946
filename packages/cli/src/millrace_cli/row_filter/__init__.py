"""The language of ``--where``: conditions on the columns of rows, as in SQL, evaluated with pyarrow alone."""

from millrace_cli.row_filter.evaluate import RowFilter
from millrace_cli.row_filter.parse import parse_row_filter

__all__ = ["RowFilter", "parse_row_filter"]
