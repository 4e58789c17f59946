"""Find out why nothing, or nothing more, comes from a query."""
