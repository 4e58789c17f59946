"""Mask e-mail addresses, card numbers and fields of JSON in messages that are recorded."""
