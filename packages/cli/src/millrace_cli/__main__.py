"""Runs the command as ``python -m millrace_cli``."""

from millrace_cli import main

main()
