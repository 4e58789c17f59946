"""The header-filter expression language of millrace: records kept or dropped by their headers."""
