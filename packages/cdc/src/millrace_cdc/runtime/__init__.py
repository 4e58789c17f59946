"""The run-time of pipelines: from the messages of a micro-batch to schema changes and rows of tables."""
