"""The screens of events, lineage and the outbox."""
