"""The standard partitioners of millrace: default, fixed and round-robin, one module each."""
