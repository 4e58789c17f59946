"""Encode Arrow rows as Avro values: many rows at once by pyruhvro, or one by one."""
