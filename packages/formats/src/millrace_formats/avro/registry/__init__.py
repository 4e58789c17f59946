"""Avro behind a schema registry: options, client, schemas, and the wire format that names a schema by its id."""
