"""What happened to data: events, lineage, the outbox."""
