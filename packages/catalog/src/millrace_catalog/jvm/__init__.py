"""What only the JVM of a session offers."""
