"""The registry's lists and forms, one module an aggregate."""

from registry.admin import casts, datasets, fields, pii, schemas, systems, types, workbench

__all__ = ["casts", "datasets", "fields", "pii", "schemas", "systems", "types", "workbench"]
