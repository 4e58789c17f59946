"""Checkpoints of streaming queries: reading them, and changed copies of them."""
