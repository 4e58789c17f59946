"""The formats of changes in JSON, one for each of the tools that write them."""
