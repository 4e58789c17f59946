"""The format json-evolving: json that fails on messages that the columns do not hold."""
