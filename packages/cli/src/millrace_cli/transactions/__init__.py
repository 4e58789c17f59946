"""Find open transactions with kafka-python, and end them."""
