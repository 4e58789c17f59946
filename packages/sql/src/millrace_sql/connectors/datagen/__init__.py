"""The connector datagen: a source of generated rows."""
