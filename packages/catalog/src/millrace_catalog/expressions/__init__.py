"""Expressions of the reference's SQL, as Spark spells them: one table of functions for queries and pipelines."""
