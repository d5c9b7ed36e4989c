"""What people bring: a ChartDB file for a system, or a document for one dataset, made into proposals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aide_crawler import CrawlError
from aide_crawler.urls import read_url

from aide.core.errors import FieldError, Invalid
from crawling.baseline import Known, baseline
from crawling.crawl.offer import Offered, offer, present_of
from crawling.imports import chartdb, filling
from crawling.models import Proposal
from registry import documents, locations, reading
from registry.catalogues import catalogue_for
from registry.documents import DocumentInvalid
from registry.models import Dataset, System

Document = dict[str, Any]
_SCHEMAS = {"postgresql": "public", "sqlite": "main", "sqlserver": "dbo"}
MAX_ERRORS = 20


@dataclass(frozen=True)
class Brought:
    """What came of a file: proposals, datasets in which nothing differs, and what was left out with the reason."""

    offered: Offered
    notes: tuple[chartdb.Note, ...]


def bring_chartdb(
    system: System, file: Any, *, by: Any, comment: str = "", remove_missing: bool = False
) -> Brought:
    """Propose that a system be as a ChartDB file draws it; what such a file cannot say stays as it is.

    Only the tables of the file are compared, unless `remove_missing` asks that all others be proposed for removal.
    Raises Invalid with the places of the file that are wrong.
    """
    flavor = system.flavor.code
    kind = locations.kind_for(system.flavor.kind.code)
    known = baseline(system)
    try:
        found = chartdb.read(
            file,
            flavor=flavor,
            default_schema=_default_schema(system, kind),
            nested=kind != Dataset.Kind.RDBMS,
            table_kind=locations.default_object_kind(kind),
        )
        wanted = _filled(found.documents, known, flavor=flavor)
    except (chartdb.ChartDBInvalid, DocumentInvalid) as error:
        raise _invalid(error.errors) from None
    offered = offer(
        system,
        wanted,
        origin=Proposal.Origin.CHARTDB,
        by=by,
        comment=comment,
        known=known,
        remove_missing=remove_missing,
    )
    return Brought(offered, found.notes)


def bring_document(dataset: Dataset, document: Mapping[str, Any], *, by: Any, comment: str = "") -> Proposal:
    """Propose that a dataset's next version be this document. Raises Invalid where it says what is in force."""
    usual = dataset.object_kind or locations.default_object_kind(dataset.kind)
    try:
        clean = documents.clean({**document, "kind": document.get("kind") or usual})
    except DocumentInvalid as error:
        raise _invalid(error.errors) from None
    if not clean["fields"]:
        raise _invalid([("fields", "A version has at least one field.")])
    clean["schema"], clean["name"] = reading.place_of(dataset)
    offered = offer(
        dataset.system,
        {dataset.name: clean},
        origin=Proposal.Origin.MANUAL,
        by=by,
        comment=comment,
        known=present_of(dataset),
    )
    if not offered.proposals:
        raise _invalid([("", _nothing_differs(dataset, clean))])
    return offered.proposals[0]


def _nothing_differs(dataset: Dataset, document: Document) -> str:
    present = present_of(dataset).get(dataset.name)
    order = [each["name"] for each in document["fields"]]
    if present is not None and [each["name"] for each in present.document["fields"]] != order:
        return "Only the order of the fields differs. That is no change that can be reviewed."
    return "This says just what is in force, so there is nothing to propose."


def _default_schema(system: System, kind: str) -> str:
    """The schema of tables whose file names none: the only one there is, else the flavor's own."""
    if kind == Dataset.Kind.HIVE:
        return "default"
    if kind != Dataset.Kind.RDBMS:
        return ""
    flavor = system.flavor.code
    if flavor in _SCHEMAS:
        return _SCHEMAS[flavor]
    rows = Dataset.objects.alive().filter(system=system, kind=kind).order_by()
    there = list(rows.values_list("location__schema", flat=True).distinct()[:2])
    if len(there) == 1 and there[0]:
        return str(there[0])
    try:
        return read_url(system.connection_url).database or ""
    except CrawlError:
        return ""


def _filled(found: Mapping[str, Document], known: Mapping[str, Known], *, flavor: str) -> dict[str, Document]:
    catalogue = catalogue_for(flavor)
    tables = {(each["schema"] or "", each["name"]): each for each in found.values()}
    wanted = {}
    for name, each in found.items():
        there = known.get(name)
        wanted[name] = documents.clean(
            filling.fill(each, there.document, flavor=flavor, catalogue=catalogue, tables=tables)
            if there is not None
            else each
        )
    return wanted


def _invalid(errors: list[tuple[str, str]]) -> Invalid:
    found = [
        FieldError(f"document.{path}".rstrip("."), "invalid", message)
        for path, message in errors[:MAX_ERRORS]
    ]
    return Invalid(detail=f"{found[0].field}: {found[0].detail}", errors=found)
