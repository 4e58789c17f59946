"""Millrace beside Spark's own Kafka connector: same machine, same session, same broker, same run."""
