"""What people fill in to change many rows together."""

from __future__ import annotations

from typing import Any

from django import forms

from aide.core.forms import WordsField
from aide.desk.bulk.plans import Plan
from aide.desk.models import Subject
from registry.models import Dataset, PIITag
from registry.tagging.removing import people_needed


class TagsField(forms.ModelMultipleChoiceField):
    """Kinds of personal data, each a box with its name."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(queryset=PIITag.objects.alive(), to_field_name="code", required=False, **kwargs)

    def label_from_instance(self, obj: Any) -> str:
        return obj.name


class ChangeForm(forms.Form):
    """Everything is optional, but something must be asked for."""

    add_tags = TagsField(label="Add personal-data tags")
    remove_tags = TagsField(
        label="Remove personal-data tags", help_text="Each removal then waits for a second person."
    )
    add_words = WordsField(
        label="Add tags", help_text="Your own words, separated by commas.", max_length=1000
    )
    remove_words = WordsField(label="Remove tags", max_length=1000)
    owner = forms.CharField(label="Set owner", required=False, max_length=255)
    clear_owner = forms.BooleanField(label="Clear the owner", required=False)
    status = forms.ChoiceField(label="Set status", required=False)
    description = forms.CharField(
        label="Describe those without a description", required=False, max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}), help_text="A description that somebody wrote is never replaced.",
    )  # fmt: skip
    reason = forms.CharField(label="Reason", required=False, max_length=1000)

    def __init__(self, data: Any = None, *, subject: str) -> None:
        super().__init__(data, label_suffix="")
        status: Any = self.fields["status"]
        status.choices = [
            ("", "as it is"),
            *((code, word) for code, word in Dataset.Status.choices if code != "retired"),
        ]
        unfit = ["status"] if subject == Subject.FIELD else ["add_tags", "remove_tags"]
        if people_needed() < 2 and "remove_tags" not in unfit:
            unfit.append("remove_tags")
        for name in unfit:
            del self.fields[name]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        both = {tag.code for tag in given.get("add_tags") or ()} & {
            tag.code for tag in given.get("remove_tags") or ()
        }
        both |= set(given.get("add_words") or ()) & set(given.get("remove_words") or ())
        if both:
            raise forms.ValidationError(f"{', '.join(sorted(both))} cannot be added and removed at once.")
        if given.get("owner") and given.get("clear_owner"):
            raise forms.ValidationError("Either set an owner or clear it.")
        if not self.errors and self._plan(given).is_empty:
            raise forms.ValidationError("Say what to change: nothing is filled in yet.")
        return given

    @property
    def plan(self) -> Plan:
        """What the valid form asks for."""
        return self._plan(self.cleaned_data)

    def _plan(self, given: dict[str, Any]) -> Plan:
        return Plan(
            owner="" if given.get("clear_owner") else given.get("owner", "").strip() or None,
            description=given.get("description", "").strip() or None,
            status=given.get("status") or None,
            add_words=tuple(given.get("add_words") or ()),
            remove_words=tuple(given.get("remove_words") or ()),
            add_tags=tuple(tag.code for tag in given.get("add_tags") or ()),
            remove_tags=tuple(tag.code for tag in given.get("remove_tags") or ()),
        )

    def repeated(self) -> list[tuple[str, str]]:
        """The filled-in values as (name, text), to be sent again with the next button."""
        pairs = []
        for name in self.fields:
            values = self.data.getlist(name) if hasattr(self.data, "getlist") else [self.data.get(name, "")]
            pairs += [(name, value) for value in values if value]
        return pairs
