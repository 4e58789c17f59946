"""The format json-evolving: json, but what does not fit the columns ends the read, so that they can follow."""
