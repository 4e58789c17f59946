"""Change-data pipelines, defined in YAML as Flink CDC defines them."""
