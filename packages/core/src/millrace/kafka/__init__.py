"""The boundary to the Kafka client: properties, clients, errors."""
