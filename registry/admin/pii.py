"""The vocabulary of personal data and the rules that look for it; which field carries what is in workbench.py."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from aide.audit.recording_admin import RecordedAdmin
from aide.core.forms import LinesField, VersionedForm, WordsField
from aide.core.html import DASH, chip, count_in_words
from registry import rulebook
from registry.models import FieldTag, PIIRule, PIITag
from registry.pii import RuleInvalid, default_rules, read_rule
from registry.pii.kinds import WORDS as FAMILIES

FINDS = frozenset({"code", "tag", "words", "vetoes", "types", "confidence"})
"""What of a rule decides what it finds; a change of it is another version."""


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
        rules = tag.rules.filter(deleted_at__isnull=True).count()
        found = [f"{count_in_words(count, 'field')} carry it"] if count else []
        return [*found, f"{count_in_words(rules, 'rule')} look for it"] if rules else found


class PIIRuleForm(VersionedForm):
    words = LinesField(
        help_text="One a line: a word of a name, or several in a row, such as passport number."
    )
    vetoes = LinesField(help_text="One a line: words in whose company the rule stays silent.")
    types = WordsField(
        help_text=f"Families of types, with commas: {', '.join(FAMILIES)}. None: all but flags and times."
    )

    class Meta:
        model = PIIRule
        fields = ("code", "tag", "words", "vetoes", "types", "confidence", "is_active", "note")
        labels = {"is_active": "Switched on"}
        help_texts = {
            "code": "Short and lasting. With the code of a rule that comes with AIDE, yours takes its place.",
            "tag": "What it finds. Not needed to switch a rule off.",
            "confidence": "How sure a match is, 0 to 1. A name alone stays below 0.90.",
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if any(name not in cleaned for name in ("code", "words", "vetoes", "types", "confidence")):
            return cleaned
        if not cleaned.get("is_active") and not cleaned.get("words"):
            if default_rules().rule(cleaned["code"]) is None:
                raise ValidationError({"code": "No rule that comes with AIDE has this code."})
            return cleaned
        if cleaned.get("tag") is None:
            raise ValidationError({"tag": "Choose what the rule finds."})
        try:
            read_rule(rulebook.written(cleaned["code"], cleaned["tag"].code, cleaned))
        except RuleInvalid as error:
            raise ValidationError(str(error)) from None
        return cleaned


@admin.register(PIIRule)
class PIIRuleAdmin(RecordedAdmin):
    page_title = "PII rules"
    noun = "rule"
    lead = "What AIDE looks for in names, types and comments, and your own rules beside it."
    how = (
        "A rule only suggests: nothing takes effect before a person accepts it.\n\n"
        "Each change of what a rule finds is a new version of it. Undecided suggestions are then made anew; what "
        "people decided stays, and what they said no to is asked again only where there is also new evidence."
    )
    form = PIIRuleForm
    change_list_template = "admin/registry/piirule/change_list.html"
    list_display = ("code", "finds", "switch", "version", "looks_for")
    list_display_links = ("code",)
    list_select_related = ("tag",)
    list_filter = ("is_active",)
    search_fields = ("code",)
    empty_sentence = "No rule of your own yet. The rules that come with AIDE are below."

    @admin.display(description="finds")
    def finds(self, rule: PIIRule) -> Any:
        return chip("pii", f"PII {rule.tag.code}") if rule.tag else DASH

    @admin.display(description="state", ordering="is_active")
    def switch(self, rule: PIIRule) -> Any:
        return chip("ok", "on") if rule.is_active else chip("plain", "off")

    @admin.display(description="looks for")
    def looks_for(self, rule: PIIRule) -> str:
        return ", ".join(rule.words)[:200] or DASH

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        add = reverse("admin:registry_piirule_add")
        shipped = [
            {
                "rule": rule,
                "looks_for": "; ".join(sorted(" + ".join(sorted(each)) for each in rule.concepts)),
                "change_url": f"{add}?{urlencode({'code': rule.code, 'is_active': ''})}",
            }
            for rule in default_rules().rules
        ]
        own = set(PIIRule.objects.filter(deleted_at__isnull=True).values_list("code", flat=True))
        context = {
            "shipped": shipped,
            "own": own,
            "rules_version": rulebook.current().version,
            "may_add": self.has_add_permission(request),
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change and FINDS & set(form.changed_data):
            obj.version += 1
        super().save_model(request, obj, form, change)
