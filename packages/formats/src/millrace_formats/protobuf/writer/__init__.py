"""Rows to protobuf messages."""
