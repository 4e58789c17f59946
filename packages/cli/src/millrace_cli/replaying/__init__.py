"""Read topics of dead letters, count what is in them, and write their messages back exactly once."""
