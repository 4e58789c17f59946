"""User-defined functions of pipelines, in Python: their code, their signatures, and calls of them in expressions."""
