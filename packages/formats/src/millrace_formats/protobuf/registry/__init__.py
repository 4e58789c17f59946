"""Protobuf behind a schema registry: schemas, message types, and messages with their frame."""
