"""The standard state backend of millrace, as a plugin."""
