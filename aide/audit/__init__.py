"""The audit log: who did what to what, append-only and hash-chained."""
