"""The json format: one JSON object a message."""

from millrace_formats.json.format import JsonFormat
from millrace_formats.json.options import JsonOptions

__all__ = ["JsonFormat", "JsonOptions"]
