"""The csv format: one line of separated values a message."""

from millrace_formats.csv.format import CsvFormat
from millrace_formats.csv.options import CsvOptions

__all__ = ["CsvFormat", "CsvOptions"]
