"""Records on their way between Kafka and Arrow: messages, key and value columns, metadata columns, row kinds."""
