"""Folders of parquet files as a sink of pipelines."""
