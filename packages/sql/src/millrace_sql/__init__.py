"""SQL tables on Spark: definitions, statements and the changelogs that their queries pass on."""
