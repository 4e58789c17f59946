"""Schemas of Kafka topics: inferred from what messages hold, widened, and followed as they change."""
