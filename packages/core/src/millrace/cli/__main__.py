"""Runs the command as ``python -m millrace.cli``."""

from millrace.cli import main

main()
