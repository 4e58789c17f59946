"""An example of a partitioner for millrace."""
