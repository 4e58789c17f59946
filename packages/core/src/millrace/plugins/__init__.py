"""Plugins: found by entry points, listed by name, imported only when used."""

from millrace.plugins.hookspecs import hookimpl

__all__ = ["hookimpl"]
