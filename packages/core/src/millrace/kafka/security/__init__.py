"""TLS and SASL: Java clients' settings translated to librdkafka's."""
