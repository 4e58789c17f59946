"""Tables of databases, through JDBC drivers in the session's JVM."""
