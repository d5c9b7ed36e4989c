"""The five kinds of dataset on the screens: their words, their boxes of facts, and one form for each."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from aide.core.forms import LinesField, VersionedForm
from registry import locations
from registry.models import Dataset

KIND_ICONS = {"rdbms": "dataset", "kafka": "queue", "storage": "bucket", "sftp": "file", "hive": "house"}
KIND_WORDS = {
    "rdbms": "RDBMS table",
    "kafka": "Kafka topic",
    "storage": "Object store",
    "sftp": "SFTP file",
    "hive": "Hive table",
}
_LABELS: dict[str, dict[str, str]] = {
    "": {
        "retention_ms": "Retention in ms",
        "key_fields": "Key",
        "is_external": "External table",
        "partition_columns": "Partition columns",
        "catalog_uri": "Catalogue address",
    },
    "kafka": {"format": "Value format"},
    "storage": {"path": "Prefix", "file_format": "Format", "partition_by": "Partition keys"},
    "sftp": {"pattern": "Glob", "file_format": "Format", "header": "Header row"},
    "hive": {"file_format": "Serde"},
}
_HELP = {
    "pattern": "Such as orders_*.csv. Without one the path is one file.",
    "delimiter": "One character, or the word tab.",
    "retention_ms": "-1 keeps messages for ever.",
    "key_fields": "Fields of the message's key, one a line.",
    "partition_by": "One a line, in their order.",
    "partition_columns": "One a line, in their order.",
}


def label_of(kind: str, key: str) -> str:
    """The word for a part of a location."""
    words = _LABELS.get(kind, {}).get(key) or _LABELS[""].get(key)
    return words or key.replace("_", " ").capitalize()


def facts(dataset: Dataset) -> list[tuple[str, str]]:
    """What the box of this kind says: the parts of the location that are known, in words."""
    kind = locations.KINDS.get(dataset.kind)
    if kind is None:
        return []
    found = _from_system(dataset)
    for key in kind.keys:
        value = dataset.location.get(key)
        if value in (None, "", []):
            continue
        if isinstance(value, bool):
            value = "yes" if value else "no"
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        label = label_of(dataset.kind, key)
        if dataset.kind == Dataset.Kind.RDBMS and key == "table" and dataset.object_kind.endswith("view"):
            label = "View"
        found.append((label, text))
    return found


def _from_system(dataset: Dataset) -> list[tuple[str, str]]:
    """The cluster of a topic and the host of a file are their system's."""
    word = {"kafka": "Cluster", "sftp": "Host"}.get(dataset.kind)
    if word is None:
        return []
    try:
        host = urlsplit(dataset.system.connection_url).hostname
    except ValueError:
        host = None
    return [(word, host or dataset.system.name)]


def object_word(dataset: Dataset) -> str:
    """What it is, where the kind's word does not say so already: a view, a folder, a partitioned table."""
    usual = locations.default_object_kind(dataset.kind)
    return "" if dataset.object_kind in ("", usual) else dataset.object_kind.replace("_", " ")


class LocationForm(VersionedForm):
    """Parts of a location as entries; the name of the dataset follows from them. The kind is not among them."""

    kind = ""

    def location(self) -> dict[str, Any]:
        """The parts that were filled in."""
        known = locations.KINDS[self.kind]
        given = {key: self.cleaned_data.get(f"location_{key}") for key in known.keys}
        return {key: value for key, value in given.items() if value not in (None, "", [], False)}

    def clean_object_kind(self) -> str:
        """What was chosen; where nothing was, what it was before or usually is."""
        before = self.instance.object_kind if self.instance.pk else ""
        return self.cleaned_data["object_kind"] or before or locations.default_object_kind(self.kind)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        location = self.location()
        for error in locations.check(self.kind, location):
            here = f"location_{error.key}"
            self.add_error(here if here in self.fields else None, error.message)
        system = cleaned.get("system") or getattr(self.instance, "system", None)
        if self.errors or system is None:
            return cleaned
        name = locations.qualified_name(self.kind, location)
        same = system.datasets.filter(name=name, deleted_at__isnull=True).exclude(pk=self.instance.pk)
        if same.exists():
            raise ValidationError(f"{system.code} already has a dataset called {name}.")
        self.instance.kind, self.instance.location, self.instance.name = self.kind, location, name
        return cleaned


class NewDatasetForm(LocationForm):
    """A dataset that is written down by hand."""

    class Meta:
        model = Dataset
        fields = ("system", "object_kind", "description", "owner")


class PlaceForm(LocationForm):
    """Where a dataset lives."""

    class Meta:
        model = Dataset
        fields = ("object_kind",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key in locations.KINDS[self.kind].keys:
            self.fields[f"location_{key}"].initial = self.instance.location.get(key)


def form_of(kind: str, base: type[LocationForm]) -> type[LocationForm]:
    """The form of one kind: that kind's parts of the location and no others."""
    known = locations.KINDS[kind]
    choices = [(each, each.replace("_", " ").capitalize()) for each in known.object_kinds]
    parts: dict[str, Any] = {
        "kind": kind,
        "object_kind": forms.ChoiceField(choices=choices, label="It is a", required=False),
    }
    for key in known.keys:
        options: dict[str, Any] = {
            "label": label_of(kind, key),
            "required": key in known.required,
            "help_text": _HELP.get(key, ""),
        }
        if key in known.numbers:
            parts[f"location_{key}"] = forms.IntegerField(**options)
        elif key in known.lists:
            parts[f"location_{key}"] = LinesField(**options)
        elif key in known.flags:
            parts[f"location_{key}"] = forms.BooleanField(**{**options, "required": False})
        else:
            parts[f"location_{key}"] = forms.CharField(
                max_length=locations.MAX_TEXT, strip=key != "delimiter", **options
            )
    return type(f"{base.__name__}Of{kind.title()}", (base,), parts)
