"""Protobuf messages to rows."""
