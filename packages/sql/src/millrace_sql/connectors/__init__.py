"""The connectors of tables: a table factory each."""
