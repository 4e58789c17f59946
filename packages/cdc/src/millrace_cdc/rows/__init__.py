"""Rows of changes: read, converted and written, each value with all of its digits."""
