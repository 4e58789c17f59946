"""An example partitioner for millrace."""
