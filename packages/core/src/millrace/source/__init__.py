"""Read from Kafka: `enumerator` plans on the driver, `reader` reads splits on executors; neither imports the other."""
