"""Run the command line by ``python -m millrace_cli``."""

from millrace_cli import main

main()
