"""Read from Kafka: planned by `enumerator` on the driver, done by `reader` on executors."""
