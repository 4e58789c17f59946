"""Truststores and keystores of Java's kinds, read into PEM; nothing is written."""

from millrace.kafka.security.stores.model import KeyPasswordError, Store, StoreError, StorePasswordError
from millrace.kafka.security.stores.read import read_store

__all__ = ["KeyPasswordError", "Store", "StoreError", "StorePasswordError", "read_store"]
