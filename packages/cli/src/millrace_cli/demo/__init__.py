"""``millrace demo``: orders flow through Kafka and Spark, and their sales are shown."""
