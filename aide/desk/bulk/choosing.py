"""From a list to a selection: what its filter matches now, in words and as rows. The only maker of selections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, QueryDict

from aide.core.errors import Invalid
from aide.core.ids import row_id
from aide.desk.bulk.weighing import MODELS
from aide.desk.models import Selection, Subject

MOST = 100_000


def mark(changelist: Any, chosen: Iterable[str], *, subject: Subject, query: str, by: Any) -> Selection:
    """A selection of the rows that were marked in the list, in the list's order."""
    wanted = {row_id(text) for text in chosen}
    ids = list(changelist.queryset.filter(pk__in=wanted).values_list("pk", flat=True)) if wanted else []
    return _made(ids, changelist, subject=subject, query=query, by=by, is_whole=False)


def mark_all(changelist: Any, *, subject: Subject, query: str, by: Any) -> Selection:
    """A selection of all rows that the list's filter matches now, whatever page is shown."""
    return _made(_ids_of(changelist), changelist, subject=subject, query=query, by=by, is_whole=True)


def _made(
    ids: list[int], changelist: Any, *, subject: Subject, query: str, by: Any, is_whole: bool
) -> Selection:
    if not ids:
        raise Invalid(detail="Nothing is selected. Mark some rows first, or select all that match.")
    return Selection.objects.create(
        person=by, subject=subject, query=query, words=words_of(changelist), is_whole=is_whole, ids=ids,
        count=len(ids),
    )  # fmt: skip


def _ids_of(changelist: Any) -> list[int]:
    ids = list(changelist.queryset.values_list("pk", flat=True)[: MOST + 1])
    if len(ids) > MOST:
        raise Invalid(detail=f"More than {MOST:,} rows match. Narrow the filter and change them in parts.")
    return ids


def words_of(changelist: Any) -> str:
    """The search and the filters as people read them: "q=email, system=CRM"; empty without any."""
    said = [f"q={changelist.query}"] if changelist.query else []
    named = {"q", "o", "p", "all", "e"}
    for spec in changelist.filter_specs:
        named |= set(spec.used_parameters) | set(spec.expected_parameters() or ())
        if spec.used_parameters:
            chosen = [each["display"] for each in spec.choices(changelist) if each.get("selected")]
            said.append(f"{spec.title}={', '.join(map(str, chosen)) or 'chosen'}")
    for name, values in changelist.filter_params.items():
        if name not in named:
            said.append(f"{name}={','.join(values)}")
    return ", ".join(said)


def present_ids(selection: Selection) -> list[int]:
    """What the selection holds now: the filter asked again, or those of the marked rows that are still there."""
    if not selection.is_whole:
        rows = MODELS[selection.subject].objects
        there: set[int] = set()
        for start in range(0, len(selection.ids), 1_000):
            part = selection.ids[start : start + 1_000]
            there |= set(rows.filter(pk__in=part).values_list("pk", flat=True))
        return [pk for pk in selection.ids if pk in there]
    try:
        return _ids_of(changelist_of(selection))
    except (IncorrectLookupParameters, SuspiciousOperation):
        return []


def look_again(selection: Selection) -> None:
    """Take what the filter matches now."""
    selection.ids = present_ids(selection)
    selection.count = len(selection.ids)
    selection.save(update_fields=["ids", "count"])


def changelist_of(selection: Selection) -> Any:
    """The list as its owner would see it now."""
    asked = HttpRequest()
    asked.method = "GET"
    asked.GET = QueryDict(selection.query)
    asked.user = selection.person
    listed = admin.site.get_model_admin(MODELS[selection.subject])
    return listed.get_changelist_instance(asked)
