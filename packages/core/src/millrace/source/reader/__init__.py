"""Read splits, on executors: fetch, filter by headers, decode, build record batches, handle malformed messages."""
