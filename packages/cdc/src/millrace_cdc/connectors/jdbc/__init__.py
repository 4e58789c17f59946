"""Databases, through their JDBC drivers."""
