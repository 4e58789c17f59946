"""Columns and the protobuf fields that they are."""
