"""The standard message formats of millrace: raw, json and csv. The hooks are in `millrace_formats.plugin`."""
