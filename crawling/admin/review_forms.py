"""What a person fills in on the review pages: the reason of a rejection, and where to go back to."""

from __future__ import annotations

from django import forms

from crawling.models import RejectMode

REASONS = (
    ("not_agreed", "Planned, but not agreed"),
    ("wrong_environment", "Wrong environment"),
    ("temporary", "Temporary object"),
    ("detection", "The detection is wrong"),
    ("other", "Another reason"),
)
MODES = (
    (
        RejectMode.MUTE,
        "Until the source changes again",
        "We will not ask again while the source stays as it is.",
    ),
    (RejectMode.ONCE, "This time only", "The next crawl asks again."),
    (RejectMode.EXCLUDE, "Exclude this object from crawls", "Nobody will be asked about it any more."),
)
MOST = 2000


class RejectForm(forms.Form):
    """Why a change is refused, and for how long."""

    why = forms.ChoiceField(choices=REASONS, error_messages={"required": "Choose a reason."})
    text = forms.CharField(required=False, max_length=MOST)
    mode = forms.ChoiceField(choices=RejectMode.choices, required=False)

    def clean(self) -> dict[str, str]:
        cleaned = super().clean() or {}
        if cleaned.get("why") == "other" and not cleaned.get("text", "").strip():
            self.add_error("text", "Say what the other reason is.")
        return cleaned

    @property
    def reason(self) -> str:
        why, text = self.cleaned_data["why"], self.cleaned_data["text"].strip()
        if why == "other":
            return str(text)
        return f"{dict(REASONS)[why]}: {text}" if text else dict(REASONS)[why]

    @property
    def reject_mode(self) -> str:
        return str(self.cleaned_data.get("mode") or RejectMode.MUTE)
