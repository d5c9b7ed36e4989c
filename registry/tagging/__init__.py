"""PII tags on fields: suggest, accept, reject, remove. The only writer of field tags."""

from registry.tagging.batches import Undone, systems_of, undo
from registry.tagging.deciding import accept, change, confirm, decide, reject, reopen
from registry.tagging.memory import Claim, Refusal, cause_of, fingerprint
from registry.tagging.offering import Offered, offer
from registry.tagging.removing import keep, people_needed, remove, why_not_second

__all__ = [
    "Claim",
    "Offered",
    "Refusal",
    "Undone",
    "accept",
    "cause_of",
    "change",
    "confirm",
    "decide",
    "fingerprint",
    "keep",
    "offer",
    "people_needed",
    "reject",
    "remove",
    "reopen",
    "systems_of",
    "undo",
    "why_not_second",
]
