"""A benchmark of millrace beside Spark's own Kafka connector: same machine, session, broker and run."""
