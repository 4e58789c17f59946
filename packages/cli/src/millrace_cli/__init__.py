"""The command ``millrace``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; says what to install where its libraries are missing."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        raise SystemExit(f"millrace: the command line needs {error.name}; run: pip install 'millrace-cli'") from None
    from millrace_cli.root import root

    root()
