"""The Spark data source ``millrace``: what Spark calls, handed on to source and sink."""
