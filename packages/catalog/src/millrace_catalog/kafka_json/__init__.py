"""The catalog of Kafka topics that hold JSON."""
