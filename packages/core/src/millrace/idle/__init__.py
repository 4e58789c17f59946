"""Find out why a query returns no rows, or no new rows."""
