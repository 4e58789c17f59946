"""Avro behind a schema registry: options, schemas, and messages with the frame that names their schema."""
