"""Found by Spark by its name; see DefaultSource."""
