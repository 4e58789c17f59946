"""Write to Kafka: `writer` builds and produces records, `committer` makes it exactly-once, `pipeline` joins them."""
