"""The command line of millrace."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command ``millrace``."""
    try:
        import click  # noqa: F401 - only to see whether it is there
        import rich  # noqa: F401 - likewise
    except ImportError as error:
        raise SystemExit(f"millrace: the command line needs {error.name}; run: pip install millrace-cli") from None
    from millrace_cli.quick_start import is_quick, leave_out_pandas

    if is_quick(sys.argv[1:]):
        leave_out_pandas()
    from millrace_cli.root import root

    root()
