"""Tables of Apache Iceberg as a sink of pipelines."""
