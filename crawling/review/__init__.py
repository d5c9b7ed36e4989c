"""What people decide about changes, and carrying it out: the only writer of drafts, decisions and mutes."""

from crawling.review.applying import Outcome, apply, apply_by_plan
from crawling.review.commenting import comment
from crawling.review.deciding import Rejection, decide, proposals_of, withdraw
from crawling.review.four_eyes import people_needed, why_not_second

__all__ = [
    "Outcome",
    "Rejection",
    "apply",
    "apply_by_plan",
    "comment",
    "decide",
    "people_needed",
    "proposals_of",
    "why_not_second",
    "withdraw",
]
