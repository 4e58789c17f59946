"""Recordings: messages of a topic in a file, from which they are replayed."""
