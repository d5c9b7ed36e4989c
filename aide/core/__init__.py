"""What every app stands on: errors, abstract models, request handling, API primitives. It has no tables."""
