"""Schema registries: options, client, schemas by id, and the frame that names a message's schema."""
