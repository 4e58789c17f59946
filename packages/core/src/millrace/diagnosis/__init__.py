"""Diagnose a connection step by step: names, ports, TLS, login, brokers, permissions, and what this machine has."""
