"""Plan reads, on the driver: partitions, offsets, limits, splits."""
