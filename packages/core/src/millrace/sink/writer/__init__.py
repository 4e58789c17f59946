"""Write tasks, on executors: build records, choose partitions, produce."""
