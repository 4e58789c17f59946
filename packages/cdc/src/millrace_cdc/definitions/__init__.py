"""Definitions of pipelines, as files have them, without Spark and without Kafka."""
