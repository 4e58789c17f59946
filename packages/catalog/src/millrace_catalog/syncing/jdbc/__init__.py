"""Tables of databases as targets."""
