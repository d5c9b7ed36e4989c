"""The lineage explorer: what is made from a dataset or a column and what it is made from, as a list and a drawing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from django.contrib import admin
from django.db.models import Max, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.dateformat import format as date_format
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.http import urlencode
from django.utils.timezone import is_naive, make_aware

from aide.core.html import count_in_words
from aide.core.ids import row_id
from aide.core.spreadsheets import harmless
from lineage import asking, graph, layout
from lineage.models import LineageEvent, Node, NodeName
from lineage.surroundings import Row, Surroundings, surroundings
from registry.models import Dataset

MOST_LISTED = 5_000
MOST_DRAWN = 200
MOST_FOUND = 50
MOST_OFFERED = 20
DEPTHS = ("1", "2", "3", "4", "5", "all")
WAYS = {"down": "what is made from it", "up": "what it is made from", "both": "both ways"}
NONE_KNOWN = "No pipeline has reported reading this. That is not proof that nobody does."


@dataclass(frozen=True)
class Question:
    """What the address asks for."""

    start: asking.Start
    path: str | None
    direction: graph.Direction
    depth: str
    level: str
    as_of: datetime | None

    @property
    def steps(self) -> int:
        return graph.MAX_DEPTH if self.depth == "all" else int(self.depth)


def page(request: HttpRequest) -> HttpResponse:
    """The explorer's page; with `format=csv` or `json` exactly the listed rows as a file."""
    question = _question(request)
    if question is None:
        text = request.GET.get("q", "").strip()
        found = _search(text) if text else _newest()
        finder = {"title": "Lineage", "query": text, "found": found, "told_of": told_of()}
        return render(request, "admin/lineage/find.html", {**admin.site.each_context(request), **finder})
    around = surroundings(
        question.start,
        level=question.level,
        path=question.path,
        direction=question.direction,
        depth=question.steps,
        as_of=question.as_of,
        most=MOST_LISTED,
    )
    listed = _sorted(around.found, request.GET.get("sort", "hop"))
    for row in listed:
        row.url = address(row)
    wanted = request.GET.get("format")
    if wanted in {"csv", "json"}:
        return _file(listed, kind=wanted)
    drawn = request.GET.get("view") == "drawing"
    context: dict[str, Any] = {
        "title": f"Lineage of {around.start.label}",
        "own_h1": around.start.label,
        "start": around.start,
        "rows": listed,
        "truncated": around.truncated,
        "most": MOST_LISTED,
        "question": question,
        "view": "drawing" if drawn else "list",
        "ways": list(WAYS.items()),
        "depths": DEPTHS,
        "drawing": _drawing(around) if drawn else None,
        "none_known": NONE_KNOWN,
        "told_of": told_of(),
        "dataset": question.start.dataset,
        "summary": _summary(around.start, listed),
        "links": _links(request),
        "as_of": request.GET.get("as_of", ""),
        "sort": request.GET.get("sort", "hop"),
    }
    return render(request, "admin/lineage/explore.html", {**admin.site.each_context(request), **context})


def _question(request: HttpRequest) -> Question | None:
    start = _start(request)
    if start is None:
        return None
    way = request.GET.get("dir", "down")
    depth = request.GET.get("depth", "all")
    path = request.GET.get("field") or None
    level = request.GET.get("level") or (graph.COLUMN if path else graph.DATASET)
    return Question(
        start,
        path,
        way if way in WAYS else "down",  # type: ignore[arg-type]
        depth if depth in DEPTHS else "all",
        level if level in graph.MODELS else graph.DATASET,
        _moment(request.GET.get("as_of", "")),
    )


def _start(request: HttpRequest) -> asking.Start | None:
    given = request.GET.get("dataset", "")
    if given:
        dataset = Dataset.objects.alive().select_related("system").filter(pk=row_id(given)).first()
        if dataset is None:
            raise Http404
        return asking.start_at_dataset(dataset)
    namespace, name = request.GET.get("namespace", ""), request.GET.get("name", "")
    if not name:
        return None
    start = asking.start_at_name(namespace, name)
    if start is None:
        raise Http404
    return start


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    keys = {
        "owner": lambda row: (row.owner == "", row.owner, row.hop),
        "system": lambda row: (row.system, row.hop),
    }
    return sorted(rows, key=keys[sort]) if sort in keys else rows


def _drawing(around: Surroundings) -> dict[str, Any]:
    """The first boxes, nearest first, and how many were left to the list."""
    shown = around.rows[:MOST_DRAWN]
    layers = {row.id: -row.hop if row.way == "up" else row.hop for row in shown}
    made = layout.lay_out(layers, [(edge["source"], edge["target"]) for edge in around.edges])
    return {
        "made": made,
        "boxes": [
            {"row": row, "box": made.boxes[row.id], "url": address(row), "is_start": row.hop == 0}
            for row in shown
        ],
        "left_out": len(around.rows) - len(shown),
        "width": layout.BOX_WIDTH,
        "height": layout.BOX_HEIGHT,
    }


def address(row: Row) -> str:
    """The explorer with this row in its middle."""
    named: dict[str, str] = {"namespace": row.namespace, "name": row.name}
    if row.dataset_id:
        named = {"dataset": str(row.dataset_id)}
    if row.column:
        named["field"] = row.column
    return f"{reverse('admin:lineage_explore')}?{urlencode(named)}"


def _links(request: HttpRequest) -> dict[str, str]:
    """This page with one thing changed."""

    def with_(**changed: str) -> str:
        given = request.GET.copy()
        for name, value in changed.items():
            given[name] = value
        return f"?{given.urlencode()}"

    return {
        "list": with_(view="list"),
        "drawing": with_(view="drawing"),
        "csv": with_(format="csv"),
        "json": with_(format="json"),
        "by_hop": with_(sort="hop"),
        "by_owner": with_(sort="owner"),
        "by_system": with_(sort="system"),
    }


def _file(rows: Sequence[Row], *, kind: str) -> HttpResponse:
    listed = [
        {
            "hop": row.hop,
            "direction": row.way,
            "namespace": row.namespace,
            "name": row.name,
            "field": row.column or "",
            "system": row.system,
            "owner": row.owner,
            "tags": ", ".join(row.tags),
            "jobs": ", ".join(row.jobs),
            "last_seen": row.last_seen.isoformat() if row.last_seen else "",
            "path": " → ".join(row.path),
        }
        for row in rows
    ]
    headers = {"Content-Disposition": f'attachment; filename="lineage.{kind}"'}
    if kind == "json":
        return HttpResponse(
            json.dumps(listed, indent=2, ensure_ascii=False), "application/json", headers=headers
        )
    text = io.StringIO()
    names = list(listed[0]) if listed else ["hop", "direction", "namespace", "name"]
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows({name: harmless(value) for name, value in row.items()} for row in listed)
    return HttpResponse(text.getvalue(), "text/csv; charset=utf-8", headers=headers)


def _summary(start: Row, rows: Sequence[Row]) -> str:
    """A sentence for a ticket: what changing the start would touch, and whom to ask."""
    datasets = {(row.namespace, row.name) for row in rows if row.way == "down"}
    columns = sum(1 for row in rows if row.way == "down" and row.column)
    if not datasets:
        return ""
    what = count_in_words(len(datasets), "dataset")
    if columns:
        what = f"{count_in_words(columns, 'column')} in {what}"
    owners = ", ".join(sorted({row.owner for row in rows if row.owner})) or "nobody named yet"
    return f"Changing {start.label} affects {what}. Owners: {owners}."


def told_of() -> str:
    """Of which days events have told: "of 3 May 2026", "from 3 May 2026 to 9 Jun 2026"; empty before the first."""
    span = LineageEvent.objects.aggregate(first=Min("event_time"), last=Max("event_time"))
    if span["first"] is None:
        return ""
    first, last = (date_format(span[end], "j M Y") for end in ("first", "last"))
    return f"of {first}" if first == last else f"from {first} to {last}"


def _newest() -> list[dict[str, Any]]:
    """Where one may begin without a name: what pipelines spoke of for the first time last."""
    nodes = Node.objects.select_related("dataset__system").order_by("-pk")[:MOST_OFFERED]
    return [
        {
            "name": node.name,
            "where": node.dataset.system.code if node.dataset else node.namespace,
            "url": f"?{urlencode({'namespace': node.namespace, 'name': node.name})}",
        }
        for node in nodes
    ]


def _search(text: str) -> list[dict[str, Any]]:
    """Datasets and names of events that hold the text."""
    datasets = Dataset.objects.alive().filter(name__icontains=text).select_related("system").order_by("name")
    found = [
        {"name": each.name, "where": each.system.code, "url": f"?{urlencode({'dataset': each.pk})}"}
        for each in datasets[:MOST_FOUND]
    ]
    names = NodeName.objects.filter(name__icontains=text, node__dataset__isnull=True).order_by("name")
    return found + [
        {
            "name": each.name,
            "where": each.namespace,
            "url": f"?{urlencode({'namespace': each.namespace, 'name': each.name})}",
        }
        for each in names[:MOST_FOUND]
    ]


def _moment(text: str) -> datetime | None:
    """A date means its end: what was known by then."""
    try:
        day = parse_date(text)
        moment = datetime.combine(day, time.max) if day else parse_datetime(text)
    except ValueError:
        return None
    return make_aware(moment) if moment is not None and is_naive(moment) else moment
