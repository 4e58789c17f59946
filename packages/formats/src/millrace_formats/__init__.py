"""The standard message formats of millrace. `millrace_formats.plugin` registers them."""
