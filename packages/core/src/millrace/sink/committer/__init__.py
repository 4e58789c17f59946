"""Commit tasks exactly once: transactions, ledgers of what was written, and checks of whole micro-batches."""
