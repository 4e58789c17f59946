"""The standard offset initializers of millrace, one module each."""
