"""A live page of the queries of a Spark session, and their metrics for Prometheus."""
