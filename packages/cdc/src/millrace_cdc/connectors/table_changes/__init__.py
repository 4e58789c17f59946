"""The changes of tables: sinks of tables get those of each table in one task, with the final states of their keys."""
