"""Personal data in the demo: what was confirmed over the year, and the suggestions that wait. Only the demo uses it.

The suggestions are the story's own, so that it has traps: columns that only sound like personal data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from aide.core import bulk
from aide.desk.demo.tables import Suggested
from aide.work.models import WorkItem
from registry import rulebook, suggesting, tagging
from registry.models import Field, FieldBinding, FieldTag, PIITag, TagScan

if TYPE_CHECKING:
    from aide.desk.demo.story import Story

LATE = (("crm.customers", "date_of_birth", "birth_date"), ("crm.customers", "last_login_ip", "online_id"))
"""What was confirmed after 1 March."""
RULES = {
    "email": "email.address",
    "phone": "phone.number",
    "person_name": "person_name.parts",
    "address": "address.whole",
    "birth_date": "birth_date.whole",
    "financial": "financial.bank",
    "government_id": "government_id.number",
    "online_id": "online_id.login",
}
WORDS = {
    "email": "an e-mail address",
    "phone": "a phone number",
    "person_name": "a person's name",
    "address": "a postal address",
    "birth_date": "a date of birth",
    "financial": "a bank account or a card",
    "government_id": "a number that an authority gave",
    "online_id": "an identity on the net",
}


def confirm(story: Story, *, late: bool) -> None:
    """People say which columns hold personal data: of customers, and of what is made from them."""
    tags = {tag.code: tag for tag in PIITag.objects.alive()}
    if late:
        _confirm(LATE, tags, by=story.people["steward"])
        return
    for source in story.sources.values():
        role = "steward" if source.kind == "rdbms" else "approver"
        _confirm(source.confirmed, tags, by=story.people[role])


def _confirm(wanted: Iterable[tuple[str, str, str]], tags: Mapping[str, PIITag], *, by: Any) -> None:
    for dataset, path, code in wanted:
        field = Field.objects.get(dataset__name=dataset, path=path, retired_at__isnull=True)
        tagging.confirm(field, tags[code], by=by, reason="Agreed with the data protection officer.")


def suggest(story: Story) -> None:
    """What rules said and nobody decided yet: high ones, those that only a name speaks for, and traps."""
    said = [each for source in story.sources.values() for each in source.suggested]
    fields = _fields(said)
    tags = dict(PIITag.objects.alive().values_list("code", "pk"))
    rules = rulebook.current()
    claims = []
    for number, each in enumerate(said):
        field_id, native = fields[each.dataset, each.path]
        for code in each.tags:
            rule = rules.rule(RULES[code])
            claims.append(
                tagging.Claim(
                    field_id=field_id,
                    tag_id=tags[code],
                    rule=RULES[code],
                    rule_version=rule.version if rule is not None else rules.base_version,
                    evidence=_evidence(each, code, native),
                    native_type=native,
                    confidence=_confidence(each, number),
                    name_only=bool(each.level),
                )
            )
    tagging.offer(claims, fields=[pk for pk, _ in fields.values()], origin=FieldTag.Origin.RULE)


def settle() -> None:
    """Every dataset was looked at by the present rules, so that nothing is said anew until something changes."""
    mark = rulebook.mark(rulebook.current(), suggesting.tag_ids())
    WorkItem.objects.filter(task=suggesting.SUGGEST).delete()
    TagScan.objects.all().delete()
    rows = suggesting.present()
    now = timezone.now()
    with transaction.atomic():
        bulk.insert(
            [
                TagScan(dataset_id=pk, schema_id=schema_id, rules_version=mark, scanned_at=now)
                for pk, schema_id in rows.values_list("pk", "current_schema_id")
            ]
        )


def _fields(said: list[Suggested]) -> dict[tuple[str, str], tuple[int, str]]:
    """Id and native type of the columns, by dataset and path."""
    wanted = {(each.dataset, each.path) for each in said}
    rows = FieldBinding.objects.filter(
        dataset_schema__dataset__name__in={name for name, _ in wanted}, parent_field__isnull=True
    ).order_by("dataset_schema__version_num")
    columns = ("dataset_schema__dataset__name", "name", "field_id", "native_type")
    return {
        (name, path): (pk, native)
        for name, path, pk, native in rows.values_list(*columns)
        if (name, path) in wanted
    }


def _confidence(each: Suggested, number: int) -> float:
    """Between 0.90 and 0.97 where name and type speak for it; two equal ones are equal; a name alone is less."""
    if len(each.tags) > 1:
        return 0.92
    if each.level == "trap":
        return 0.55
    if each.level:
        return round(0.58 + number % 6 * 0.04, 2)
    return round(0.9 + number % 8 / 100, 2)


def _evidence(each: Suggested, code: str, native: str) -> str:
    if each.level == "trap":
        return f"Only the name speaks for {WORDS[code]}; the type {native} makes it unlikely."
    if each.level:
        return f"Only the name speaks for {WORDS[code]}."
    return f"The name speaks for {WORDS[code]}, and the type {native} can hold one."
