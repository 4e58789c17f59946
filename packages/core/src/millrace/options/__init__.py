"""Options: declared once as dataclass fields, parsed and checked once on the driver."""

from millrace.options.field import OptionInfo, ShownValueError, option, options_of

__all__ = ["OptionInfo", "ShownValueError", "option", "options_of"]
