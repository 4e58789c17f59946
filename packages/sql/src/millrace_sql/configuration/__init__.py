"""Settings of a table environment, by the keys of SET."""
