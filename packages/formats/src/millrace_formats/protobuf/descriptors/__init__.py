"""Message types: from a generated class or a descriptor set file to a class on any machine."""
