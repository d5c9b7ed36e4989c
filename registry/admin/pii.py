"""The vocabulary of personal data, as a plain list; which field carries what is written by registry.tagging."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from aide.audit.recording_admin import RecordedAdmin
from aide.core.forms import VersionedForm, WordsField
from aide.core.html import DASH, count_in_words
from registry.models import FieldTag, PIITag


class PIITagForm(VersionedForm):
    regimes = WordsField(help_text="Laws and standards it falls under, separated by commas.")

    class Meta:
        model = PIITag
        fields = ("code", "name", "sensitivity", "regimes", "note")


@admin.register(PIITag)
class PIITagAdmin(RecordedAdmin):
    lead = "The kinds of personal data that a field can be tagged with."
    form = PIITagForm
    list_display = ("name", "code", "sensitivity", "laws")
    search_fields = ("code", "name")

    @admin.display(description="laws and standards")
    def laws(self, tag: PIITag) -> str:
        return ", ".join(tag.regimes) or DASH

    def blockers(self, tag: Any) -> list[str]:
        count = FieldTag.objects.filter(tag=tag, until__isnull=True).count()
        return [f"{count_in_words(count, 'field')} carry it"] if count else []
