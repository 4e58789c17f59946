"""Builders of sources and sinks as PyFlink's users know them; what they build are options of the data source."""
