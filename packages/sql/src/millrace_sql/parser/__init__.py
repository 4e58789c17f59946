"""From the text of a script to its statements, and back."""
