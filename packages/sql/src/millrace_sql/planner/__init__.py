"""Plan queries: find their tables, derive the changelog of every step, and rewrite them for Spark."""
