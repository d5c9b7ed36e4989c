"""The screens of events, lineage and the outbox."""

from lineage.admin import events, names, outbox

__all__ = ["events", "names", "outbox"]
