"""``millrace demo``: orders flow through Kafka and Spark, and their revenue is shown live."""
