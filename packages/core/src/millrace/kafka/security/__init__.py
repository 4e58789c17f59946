"""TLS and SASL: translate the properties of Java's clients into librdkafka's."""
