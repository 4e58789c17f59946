"""Plan reads, on the driver: subscribe, find where to start and stop, detect lost data, limit, divide into splits."""
