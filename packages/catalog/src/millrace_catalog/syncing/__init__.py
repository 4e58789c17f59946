"""Tables elsewhere that are kept in step with a topic."""
