"""The message types that ptars reads and writes in place of the user's, and its handlers."""
