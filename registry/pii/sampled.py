"""What counts of shapes say about a suggestion: they raise it, lower it, or speak for themselves. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from registry.pii.columns import Evidence, Suggestion

VERSION = "1"
_FEWEST = 10  # sampled values that say something
_MOST, _HARDLY = 0.8, 0.1
# The shapes of `values.py`, the tag that each speaks for, how surely by itself, and its words.
SHAPES = {
    "email": ("email", 0.93, "look like an e-mail address"),
    "iban": ("financial", 0.95, "are valid IBANs"),
    "card": ("financial", 0.93, "are valid card numbers"),
    "phone": ("phone", 0.85, "are possible phone numbers with a country code"),
    "birth_date": ("birth_date", 0.0, "are dates that a living person may be born on"),
    "ip": ("online_id", 0.85, "are IP addresses"),
}
_MUST = {"email": ("email",), "phone": ("phone", "local_phone"), "birth_date": ("birth_date",)}


@dataclass(frozen=True)
class ValueVerdict:
    """The counts of one sample."""

    evidence: Evidence

    def weigh(self, suggestion: Suggestion) -> Suggestion | None:
        """The suggestion with what the values say; none when they speak against it."""
        shapes = _MUST.get(
            suggestion.tag, tuple(s for s, (tag, *_) in SHAPES.items() if tag == suggestion.tag)
        )
        if not shapes:
            return suggestion
        best = max(shapes, key=lambda shape: (self.evidence.share(shape), shape))
        share, count = self.evidence.share(best), self.evidence.shapes.get(best, 0)
        says = f"{count} of {self.evidence.sampled} sampled values {SHAPES.get(best, ('', 0, 'look like one'))[2]}."
        if share >= _MOST:
            return replace(
                suggestion,
                confidence=round(min(0.99, max(suggestion.confidence + 0.08, 0.92)), 2),
                evidence=f"{suggestion.evidence} {says}",
                name_only=False,
            )
        if share <= _HARDLY and suggestion.tag in _MUST:
            return None
        return suggestion

    def own(self) -> list[Suggestion]:
        """What the values speak for, whatever the name says."""
        found = []
        for shape, (tag, confidence, words) in SHAPES.items():
            if confidence and self.evidence.share(shape) >= _MOST:
                says = f"{self.evidence.shapes[shape]} of {self.evidence.sampled} sampled values {words}."
                found.append(Suggestion(tag, confidence, f"values.{shape}", VERSION, says, False))
        return found


def judge_values(evidence: Evidence | None) -> ValueVerdict | None:
    """A verdict, when enough values were sampled to say something."""
    return ValueVerdict(evidence) if evidence is not None and evidence.sampled >= _FEWEST else None
