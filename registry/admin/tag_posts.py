"""What a post of the workbench asks for, read from its form."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

REASONS = (
    ("1", "Not personal data"),
    ("2", "Wrong tag: choose the right one"),
    ("3", "Test data"),
    ("4", "Another reason"),
)
WRONG_TAG, OTHER = "2", "4"
ACTS = ("accept", "reject", "reopen", "remove", "confirm", "keep")


@dataclass(frozen=True)
class Decision:
    """One act on one tag, or the acceptance of a group. `tag` is the right one where the suggested is wrong."""

    act: str
    pk: int = 0
    key: str = ""
    seen: int = 0
    reason: str = ""
    tag: str = ""
    why: str = ""
    text: str = ""
    is_first: bool = False
    """The reason has not been asked yet."""

    @property
    def needs_reason(self) -> bool:
        if self.act == "remove":
            return not self.reason
        return not self.reason and not self.tag

    @property
    def error(self) -> str:
        if self.is_first:
            return ""
        if self.act == "remove":
            return "Say why the tag goes."
        if self.why == WRONG_TAG:
            return "Choose the right tag."
        return "Say what the other reason is." if self.why == OTHER else "Choose a reason."


def read_decision(posted: QueryDict) -> Decision | None:
    """The decision of a form; None where it asks for nothing."""
    if "group" in posted:
        return Decision("group", key=plain(posted["group"]), seen=number(posted.get("seen", "")))
    if "undo" in posted:
        return Decision("undo", key=plain(posted["undo"]))
    for act in ACTS:
        if act in posted:
            return _one(act, posted)
    return None


def _one(act: str, posted: QueryDict) -> Decision:
    why, text = posted.get("why", ""), plain(posted.get("text", "")).strip()[:2000]
    pk, is_first = number(str(posted[act])), "why" not in posted and "text" not in posted
    if act == "remove":
        return Decision(act, pk, reason=text, text=text, is_first=is_first)
    labels = dict(REASONS)
    tag = plain(posted.get("tag", "")) if why == WRONG_TAG else ""
    if why == OTHER:
        reason = text
    elif why in labels and why != WRONG_TAG:
        reason = f"{labels[why]}: {text}" if text else labels[why]
    else:
        reason = ""
    return Decision(act, pk, reason=reason, tag=tag, why=why, text=text, is_first=is_first)


def plain(text: object) -> str:
    """A text that every database can hold."""
    return str(text or "").replace("\x00", "")


def number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 16 else 0
