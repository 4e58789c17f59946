"""Sources, sinks, sessions and metrics: what users import from `millrace`."""
