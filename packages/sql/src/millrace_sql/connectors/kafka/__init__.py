"""The connectors kafka and upsert-kafka: tables as reads and writes of the data source ``millrace``."""
