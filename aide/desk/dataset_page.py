"""The dataset page: its header, what kind of thing it is, and its tabs, each an address of its own."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from aide.accounts.roles import Capability, can
from aide.audit.models import AuditEntry
from aide.desk import addresses, compare, field_edits, gone, navigation
from crawling.models import Change, CrawlRun, Mute, Observation, Proposal
from lineage import about, asking
from lineage.surroundings import surroundings
from registry import history
from registry.admin import kinds
from registry.admin.datasets import STATUS_CHIPS
from registry.models import Dataset, DatasetSchema, Field, FieldBinding, FieldTag

TABS = (
    ("fields", "Fields"),
    ("versions", "Versions"),
    ("lineage", "Lineage"),
    ("events", "Events"),
    ("crawls", "Crawls"),
    ("history", "History"),
)
FIELDS_A_PAGE = 500
EVENTS_SHOWN = 50
NEIGHBOURS_SHOWN = 500


def context(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    """What the page shows of this dataset in the tab that the address names."""
    tab = request.GET.get("tab", "fields")
    tab = tab if tab in dict(TABS) else "fields"
    user = request.user
    build = BUILDERS[tab]
    return {
        "title": dataset.name,
        "dataset": dataset,
        "schema": dataset.current_schema,
        "tab": tab,
        "tabs": [{"code": code, "label": label, "current": code == tab} for code, label in TABS],
        "kind_icon": kinds.KIND_ICONS.get(dataset.kind, "dataset"),
        "status_chip": STATUS_CHIPS.get(dataset.status, "plain"),
        "kind_word": kinds.KIND_WORDS.get(dataset.kind, ""),
        "object_word": kinds.object_word(dataset),
        "facts": kinds.facts(dataset),
        "may_move": can(user, Capability.MANAGE_SYSTEMS, dataset.system),
        "may_propose": can(user, Capability.PUBLISH, dataset.system),
        "may_edit": can(user, Capability.EDIT_CURATED, dataset.system),
        "may_read_log": can(user, Capability.READ_AUDIT, dataset.system),
        "may_crawl": can(user, Capability.START_CRAWL, dataset.system),
        "open_changes": {"all": dataset.open_changes, "breaking": dataset.open_breaking},  # type: ignore[attr-defined]
        "reviews_url": navigation.reviews_of(dataset.system),
        "end": gone.end_in_words("dataset", dataset.pk) if dataset.status == Dataset.Status.RETIRED else "",
        "urn": addresses.urn_of("dataset", dataset.pk),
        "drift": dataset.has_drift,  # type: ignore[attr-defined]
        "last_crawled": dataset.last_crawled,  # type: ignore[attr-defined]
        **build(request, dataset),
    }


def with_header(datasets: QuerySet[Dataset]) -> QuerySet[Dataset]:
    """The datasets with what their pages' header says: open changes, drift, the last crawl; in one statement."""
    undecided = (
        Change.objects.filter(
            proposal__dataset=OuterRef("pk"), proposal__status__in=Proposal.LIVE, state__in=Change.UNDECIDED
        )
        .order_by()
        .values("proposal__dataset")
    )
    found = {
        "open_changes": undecided.annotate(n=Count("pk")).values("n"),
        "open_breaking": undecided.filter(risk=Change.Risk.BREAKING).annotate(n=Count("pk")).values("n"),
    }
    mutes = Mute.objects.filter(
        system=OuterRef("system"), dataset_name=OuterRef("name"), lifted_at__isnull=True
    )
    runs = CrawlRun.objects.filter(system=OuterRef("system"), dry_run=False).order_by("-pk")
    return datasets.annotate(
        has_drift=Exists(mutes),
        last_crawled=Subquery(runs.values("created_at")[:1]),
        **{name: Coalesce(Subquery(rows), 0) for name, rows in found.items()},
    )


def _fields(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    schema = dataset.current_schema
    if schema is None:
        return {"rows": [], "page_obj": None}
    shown = (FieldTag.State.CONFIRMED, FieldTag.State.SUGGESTED)
    tags = FieldTag.objects.filter(until__isnull=True, state__in=shown).select_related("tag")
    bindings = (
        FieldBinding.objects.filter(dataset_schema=schema)
        .select_related("field", "type_instance")
        .prefetch_related(Prefetch("field__field_tags", tags, to_attr="open_tags"))
        .order_by("position", "pk")
    )
    ordered = _nested(list(bindings))
    page = Paginator(ordered, FIELDS_A_PAGE).get_page(request.GET.get("page"))
    return {
        "rows": [{**row, "type": history.type_of(row["binding"])} for row in page.object_list],
        "page_obj": page,
        "foreign": _foreign_keys(schema),
        "unique_keys": schema.unique_keys,
        **field_edits.line_of(request, dataset),
    }


def _nested(bindings: list[FieldBinding]) -> list[dict[str, Any]]:
    """Each field followed by the fields inside it, with how deep they are."""
    children: dict[int | None, list[FieldBinding]] = {}
    here = {row.field_id for row in bindings}
    for row in bindings:
        parent = row.parent_field_id if row.parent_field_id in here else None
        children.setdefault(parent, []).append(row)
    ordered: list[dict[str, Any]] = []
    stack = [(row, 0) for row in reversed(children.get(None, []))]
    while stack:
        row, depth = stack.pop()
        ordered.append({"binding": row, "depth": min(depth, 3)})
        stack += [(child, depth + 1) for child in reversed(children.get(row.field_id, []))]
    return ordered


def _foreign_keys(schema: DatasetSchema) -> list[dict[str, str]]:
    keys = []
    for key in schema.foreign_keys or []:
        target = ".".join(part for part in (key.get("ref_schema"), key.get("ref_table")) if part)
        keys.append(
            {
                "columns": ", ".join(key.get("columns") or []),
                "target": f"{target} ({', '.join(key.get('ref_columns') or [])})",
            }
        )
    return keys


def _versions(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    versions = compare.versions_of(dataset)
    pair = compare.chosen(versions, request.GET)
    return {
        "versions": versions,
        "comparison": compare.compare(dataset, *pair) if pair and pair[0].pk != pair[1].pk else None,
        "pair": pair,
        "since": request.GET.get("since", ""),
    }


def _crawls(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    proposals = (
        Proposal.objects.filter(dataset=dataset)
        .select_related("crawl_run", "system")
        .prefetch_related(
            Prefetch(
                "changes",
                Change.objects.prefetch_related("decisions__person").order_by("place"),
            )
        )
        .order_by("-pk")[:20]
    )
    mutes = Mute.objects.filter(system=dataset.system_id, dataset_name=dataset.name, lifted_at__isnull=True)
    return {
        "observation": Observation.objects.filter(system=dataset.system_id, dataset_name=dataset.name)
        .select_related("first_run", "changed_run")
        .first(),
        "proposals": list(proposals),
        "mutes": list(mutes.select_related("person", "change")[:50]),
    }


def _history(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    entries = AuditEntry.objects.filter(dataset_id=dataset.pk).select_related("actor")[:100]
    return {
        "entries": list(entries),
        "retired": Field.objects.filter(dataset=dataset, retired_at__isnull=False)[:50],
    }


def _lineage(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    """One hop to both sides; the explorer shows the rest."""
    around = surroundings(asking.start_at_dataset(dataset), depth=1, most=NEIGHBOURS_SHOWN)
    return {
        "sources": [row for row in around.found if row.way == "up"],
        "readers": [row for row in around.found if row.way == "down"],
        "truncated": around.truncated,
    }


def _events(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    found = list(about.events_of(dataset)[: EVENTS_SHOWN + 1])
    return {
        "events": found[:EVENTS_SHOWN],
        "more_events": len(found) > EVENTS_SHOWN,
        "names": about.names_of(dataset)[:5],
    }


BUILDERS = {
    "fields": _fields,
    "versions": _versions,
    "lineage": _lineage,
    "events": _events,
    "crawls": _crawls,
    "history": _history,
}
