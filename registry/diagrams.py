"""ChartDB diagrams of what there is: the present schema of a system's datasets, and AIDE's own tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.db import models
from django.db.utils import ConnectionHandler

from registry import reading
from registry.catalogues import catalogue_for
from registry.chartdb import Stamped, diagram
from registry.documents import clean
from registry.models import Dataset, System

OUR_APPS = ("accounts", "audit", "work", "registry", "lineage", "crawling", "desk")
# A model has no date of publication: the file changes when a model does, and only then.
_OUR_DATE = datetime(2026, 1, 1, tzinfo=UTC)


def of_system(system: System) -> dict[str, Any]:
    """The versions in force of a system's datasets; retired datasets are not drawn."""
    rows = (
        Dataset.objects.alive()
        .filter(system=system, current_schema__isnull=False)
        .exclude(status=Dataset.Status.RETIRED)
        .select_related("current_schema")
    )
    datasets = {row.current_schema.pk: row for row in rows if row.current_schema is not None}
    names = {row.pk: reading.place_of(row) for row in datasets.values()}
    documents = reading.documents_of(datasets, names=names)
    return diagram(
        [
            Stamped(document, _milliseconds(datasets[pk].current_schema.published_at))  # type: ignore[union-attr]
            for pk, document in documents.items()
        ],
        name=system.name,
        flavor=system.flavor.code,
        catalogue=catalogue_for(system.flavor.code),
        nested=any(row.kind != Dataset.Kind.RDBMS for row in datasets.values()),
    )


def of_ourselves() -> dict[str, Any]:
    """The tables of AIDE as PostgreSQL has them, read from the models; the same file on every machine."""
    # Asked for the names of types only; nothing connects.
    connection = ConnectionHandler({"default": {"ENGINE": "django.db.backends.postgresql"}})["default"]
    tables = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in OUR_APPS and model._meta.managed and not model._meta.proxy
    ]
    at = _milliseconds(_OUR_DATE)
    documents = [Stamped(_document(model, connection), at) for model in tables]
    return diagram(documents, name="AIDE", flavor="postgresql")


def _milliseconds(moment: datetime | None) -> int:
    return int(moment.timestamp() * 1000) if moment is not None else 0


def _document(model: type[models.Model], connection: Any) -> dict[str, Any]:
    meta = model._meta
    fields = [field for field in meta.local_concrete_fields if field.db_type(connection)]
    unique = [[str(field.column)] for field in fields if field.unique and not field.primary_key]
    unique += [_columns(model, names) for names in meta.unique_together]
    unique += [
        _columns(model, each.fields)
        for each in meta.constraints
        if isinstance(each, models.UniqueConstraint) and each.fields and each.condition is None
    ]
    said = (model.__doc__ or "").strip().split("\n")[0]
    return clean(
        {
            "name": meta.db_table,
            "comment": None if said.startswith(f"{model.__name__}(") else said,
            "fields": [_field(field, connection) for field in fields],
            "primary_key": {
                "name": f"{meta.db_table}_pkey",
                "columns": [field.column for field in fields if field.primary_key],
            },
            "unique": [{"name": None, "columns": columns} for columns in unique],
            "foreign_keys": [
                {
                    "columns": [field.column],
                    "ref_table": field.remote_field.model._meta.db_table,
                    "ref_columns": [field.target_field.column],
                }
                for field in fields
                if isinstance(field, models.ForeignKey)
            ],
        }
    )


def _columns(model: type[models.Model], names: Any) -> list[str]:
    columns = {field.name: str(field.column) for field in model._meta.local_concrete_fields}
    return [columns[name] for name in names]


def _field(field: Any, connection: Any) -> dict[str, Any]:
    suffix = field.db_type_suffix(connection) or ""
    return {
        "name": field.column,
        "native_type": field.db_type(connection),
        "nullable": field.null,
        "comment": str(field.help_text) or None,
        "identity": {"kind": "by_default"} if "IDENTITY" in suffix else None,
    }
