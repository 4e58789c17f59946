"""The standard dead letter collectors: in the log, and in a topic."""
