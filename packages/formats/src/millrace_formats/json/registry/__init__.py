"""JSON Schema behind a schema registry: schemas, the types of their columns, and messages with their frame."""
