"""Spell as Spark does what Flink's dialect spells otherwise."""
