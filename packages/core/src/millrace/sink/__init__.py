"""Write to Kafka: done by `writer` on executors, made exactly-once by `committer`."""
