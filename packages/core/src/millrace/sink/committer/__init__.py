"""Exactly-once: transactions, and the ledger of what each task has written."""
