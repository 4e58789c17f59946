"""Reading of a pipeline's YAML: every problem of a file at once, each with its place."""
