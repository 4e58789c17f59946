"""Topics on the page: their partitions and groups, and their messages."""
