"""Rules of transforms: their projections and conditions, in Flink CDC's language, as Spark SQL."""
