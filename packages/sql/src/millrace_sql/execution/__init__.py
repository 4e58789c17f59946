"""Run statements: tables that queries read and write, streams, results."""
