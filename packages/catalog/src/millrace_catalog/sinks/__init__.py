"""Tables that `replicate` fills from a topic: parquet folders and database tables."""
