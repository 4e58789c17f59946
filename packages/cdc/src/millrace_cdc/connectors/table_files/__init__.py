"""Files of tables: what sinks share that write files on the executors, in one job for all tables of a micro-batch."""
