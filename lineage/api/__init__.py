"""The addresses of events, lineage and the outbox."""
