"""The registry's lists and forms, one module an aggregate."""

from registry.admin import datasets, fields, pii, schemas, systems, types

__all__ = ["datasets", "fields", "pii", "schemas", "systems", "types"]
