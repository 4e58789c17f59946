"""The catalog: Kafka topics of JSON as tables."""
