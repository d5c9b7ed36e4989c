"""The API of the registry. It gives things their shape; the rules are in the registry's own modules."""
