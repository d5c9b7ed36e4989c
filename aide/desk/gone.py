"""What to say of a thing that is retired or deleted: when, by whom and why, and where its last version is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from aide.audit.models import AuditEntry
from registry.models import Dataset, Field, System

VERBS = {"retire": "retired", "delete": "deleted"}


class GoneError(Http404):
    """There was something at this address; the page of the refusal says what became of it."""

    def __init__(self, sentence: str, *, url: str = "", words: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.url = url
        self.words = words


def what_became_of(model: type[Any], pk: Any) -> Http404:
    """The error to raise for a row that is not shown: with its end in words where it was there once."""
    number = int(pk) if str(pk).isdecimal() and len(str(pk)) <= 18 else 0
    if model is Dataset:
        dataset = Dataset.objects.filter(pk=number, deleted_at__isnull=False).first()
        return Http404() if dataset is None else _of_dataset("dataset", dataset)
    if model is System:
        system = System.objects.filter(pk=number, deleted_at__isnull=False).first()
        return Http404() if system is None else GoneError(end_in_words("system", system.pk))
    if model is Field:
        field = Field.objects.select_related("dataset").filter(pk=number).first()
        if field is not None and field.dataset.deleted_at is not None:
            return _of_dataset("dataset of this field", field.dataset)
    return Http404()


def _of_dataset(what: str, dataset: Dataset) -> GoneError:
    url = ""
    if dataset.current_schema_id:
        url = reverse("admin:registry_datasetschema_change", args=[dataset.current_schema_id])
    return GoneError(end_in_words("dataset", dataset.pk, what=what), url=url, words="See its last version")


def end_in_words(kind: str, pk: int, *, what: str = "") -> str:
    """ "This dataset was retired on 3 May by approver (Not used any more)."; without an entry of the log, less."""
    subject = f"The {what}" if " " in what else f"This {kind}"
    entry = (
        AuditEntry.objects.filter(
            object_type=kind, object_id=str(pk), action__in=[f"{kind}.{verb}" for verb in VERBS]
        )
        .select_related("actor")
        .order_by("-pk")
        .first()
    )
    if entry is None:
        return f"{subject} is not in use any more."
    verb = VERBS[entry.action.partition(".")[2]]
    who = f" by {entry.actor}" if entry.actor else ""
    why = f" ({entry.reason})" if entry.reason else ""
    return f"{subject} was {verb} on {_day(entry.at)}{who}{why}."


def _day(moment: datetime) -> str:
    local, now = timezone.localtime(moment), timezone.localtime()
    return f"{local.day} {local:%B}" + ("" if local.year == now.year else f" {local.year}")
