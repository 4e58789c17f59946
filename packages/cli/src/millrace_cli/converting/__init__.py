"""Convert the options of one Kafka connector or client into those of another, by way of millrace's."""
