"""The commands of ``millrace``, one module each, named by the entry points of group ``millrace.commands``."""
