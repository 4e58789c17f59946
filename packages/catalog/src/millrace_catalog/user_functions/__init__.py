"""User-defined functions in Python, of queries and of pipelines: their code, their signatures, and calls of them."""
