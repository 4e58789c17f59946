"""The standard token providers of millrace: AWS MSK, Azure and Google, one module each, by the vendors' libraries."""
