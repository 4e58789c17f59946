"""Code that several formats use: the fallback decoder, SQL's types, and conversions between columns and text."""
