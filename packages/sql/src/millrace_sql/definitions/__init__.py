"""Tables, views, databases and catalogs: their definitions, checks, and where they are kept."""
