"""Tables of Delta Lake, written by the package deltalake."""
