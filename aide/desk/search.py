"""The search of the top bar: systems, datasets and fields by name, a plain page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from registry.models import Dataset, Field, System

EACH = 25


def page(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:200]
    found: dict[str, Any] = find(text) if text else {}
    context = {
        **admin.site.each_context(request),
        "title": f"Search: {text}" if text else "Search",
        "q": text,
        "each": EACH,
        "is_empty": bool(text) and not any(found.values()),
        **found,
    }
    return render(request, "admin/search.html", context)


def find(text: str) -> dict[str, list[Any]]:
    """At most 25 of each kind whose name holds the text, whatever its case; names that begin with it first.

    Of fields it is any 25, since sorting all that hold a common word is slow.
    """
    systems = System.objects.filter(
        Q(code__icontains=text) | Q(name__icontains=text), deleted_at__isnull=True
    )
    datasets = Dataset.objects.filter(name__icontains=text, deleted_at__isnull=True)
    fields = Field.objects.filter(
        name__icontains=text, retired_at__isnull=True, dataset__deleted_at__isnull=True
    )

    def first(rows: list[Any], name: str) -> list[Any]:
        wanted = text.lower()
        return sorted(
            rows, key=lambda row: (not getattr(row, name).lower().startswith(wanted), getattr(row, name))
        )

    return {
        "systems": first(list(systems.select_related("flavor").order_by("code")[:EACH]), "code"),
        "datasets": first(list(datasets.select_related("system").order_by("name")[:EACH]), "name"),
        "fields": first(list(fields.select_related("dataset__system").order_by("pk")[:EACH]), "name"),
    }
