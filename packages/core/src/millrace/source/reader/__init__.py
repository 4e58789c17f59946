"""Read splits, on executors: fetch, filter, decode, build record batches."""
