"""Decode Avro values to Arrow rows: many messages at once by pyruhvro, and one by one by an exact reader."""
