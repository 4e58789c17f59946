"""`millrace transactions`: list and abort transactions that a dead query left open."""
