"""A plugin-based Kafka connector for PySpark."""
