"""Plans: what a pipeline would do, found out without changing anything."""
