"""SQL at a terminal and in notebooks: scripts, the interactive shell, and the cell magic."""
