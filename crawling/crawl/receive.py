"""What comes after the look, whoever looked: compare with the registry, keep what was seen, propose, report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aide_crawler import Snapshot
from aide_crawler.memory import collecting_later
from django.db import transaction

from crawling import report
from crawling.baseline import Known, baseline, context_of
from crawling.corrections import Word, correct
from crawling.crawl import runs
from crawling.crawl.losses import mark_losses, named_database, other_database
from crawling.crawl.observe import observe
from crawling.crawl.propose import propose
from crawling.crawl.returning import rate_returning
from crawling.diff import Context, DatasetDiff, compare
from crawling.models import CrawlRun, Mute, Observation, Pairing, RejectMode
from crawling.settled import Settled
from registry import documents, typesystem
from registry.catalogues import catalogue_for
from registry.locations import dataset_name
from registry.models import System
from registry.typesystem import Catalogue

Document = Mapping[str, Any]


class Covered:
    """Whether a dataset was truly looked for: its schema listed whole, its name in scope, and it did not fail."""

    def __init__(self, snapshot: Snapshot, *, places: Mapping[str, tuple[str, str]]) -> None:
        self._scope = snapshot.scope
        self._places = places
        self._shows_schema = snapshot.coverage.shows_schema
        self._missed = _missed(snapshot)

    def __call__(self, name: str) -> bool:
        place = self._places.get(name)
        return (
            place is not None
            and self._shows_schema(place[0])
            and place not in self._missed
            and self._scope.covers(*place)
        )


@collecting_later()
def receive(run: CrawlRun, snapshot: Snapshot, *, timings: Mapping[str, float] | None = None) -> None:
    """Compare a snapshot with the registry and bring the run to its end.

    A dry run only reports. Else what was seen is kept, and proposals are made, kept or superseded, all in one
    transaction; an unchanged source writes nothing but the run.
    """
    began = time.monotonic()
    system = run.system
    catalogue = catalogue_for(system.flavor.code)
    excluded = _excluded(system)
    found = {name: document for name, document in _read_whole(snapshot).items() if name not in excluded}
    settled = Settled(system, found, catalogue=catalogue)
    present = baseline(system, scope=snapshot.scope, settled=settled.document)
    known = {name: each for name, each in present.items() if name not in excluded}
    covered = Covered(snapshot, places=_places(system, known, found, seen=settled.seen))
    unsettled = {name: each for name, each in known.items() if found.get(name) is not each.document}
    context = _context(unsettled)
    compared_as_found = compare(
        {name: each.document for name, each in known.items()},
        found,
        catalogue=catalogue,
        covered=covered,
        context=context,
    )
    corrected = correct(compared_as_found, _words(system), catalogue=catalogue, context=context)
    looked = mark_losses(
        rate_returning(system, corrected.diffs, catalogue=catalogue),
        known=known,
        found=found,
        database=named_database(system, snapshot.database),
    )
    diffs = looked.diffs
    warnings = [*other_database(system, snapshot.database), *looked.warnings]
    compared = time.monotonic()
    answer = report.build(
        diffs,
        system=system.code,
        run_id=run.pk,
        coverage=snapshot.coverage.to_dict(),
        unmapped=unmapped_types(found, catalogue=catalogue),
        warnings=warnings,
    )
    status = runs.Status.COMPLETED if snapshot.coverage.complete else runs.Status.COMPLETED_WITH_ERRORS
    with transaction.atomic():
        runs.hold(run)
        if not run.dry_run:
            marks = _marks(settled, known, found, diffs=compared_as_found)
            observations = observe(run, found, hashes=settled.hashes, marks=marks, covered=covered)
            propose(
                run, diffs, known=known, observations=observations, covered=covered, people=corrected.people
            )
            _forget(corrected.unused, covered=covered)
        runs.finish(
            run,
            status,
            database=snapshot.database or "",
            coverage=snapshot.coverage.to_dict(),
            summary=answer["summary"],
            report=answer,
            warnings=warnings,
            tables_done=snapshot.coverage.read,
            tables_total=snapshot.coverage.listed,
            schemas_done=len(snapshot.coverage.schemas),
            schemas_total=len(snapshot.coverage.schemas),
            timings={
                **(timings or {}),
                "compare": round(compared - began, 3),
                "propose": round(time.monotonic() - compared, 3),
            },
        )


def _marks(
    settled: Settled,
    known: Mapping[str, Known],
    found: Mapping[str, Document],
    *,
    diffs: Sequence[DatasetDiff],
) -> dict[str, str]:
    """The marks of the datasets in which nothing differs, by name."""
    differing = {name for each in diffs for name in (each.before_name, each.after_name)}
    return {
        name: settled.mark(name, each.schema_id)
        for name, each in known.items()
        if name in found and name not in differing
    }


def unmapped_types(found: Mapping[str, Document], *, catalogue: Catalogue) -> list[dict[str, str]]:
    """The fields whose type the catalogue does not know: dataset, field, type."""
    is_known: dict[typesystem.Mark, bool] = {}

    def unknown(node: Document) -> bool:
        mark = typesystem.mark_of(node)
        if mark not in is_known:
            code = typesystem.parse(catalogue, mark[0], field=node).code if mark[0] else ""
            is_known[mark] = code is not None
        return not is_known[mark]

    unmapped = []
    for name, document in found.items():
        fields = document.get("fields") or ()
        if any(unknown(node) or node.get("fields") for node in fields):  # paths only where they are told
            unmapped += [
                {"dataset": name, "field": path, "type": node["native_type"]}
                for path, node in documents.walk(document)
                if unknown(node)
            ]
    return unmapped


def _missed(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
    coverage = snapshot.coverage
    return frozenset((each.schema, each.name) for each in (*coverage.failed, *coverage.skipped))


def _read_whole(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """The documents that were read whole; of a broken view or a partly granted table there is only a part."""
    missed = _missed(snapshot)
    return {
        dataset_name(each): each for each in snapshot.datasets if (each["schema"], each["name"]) not in missed
    }


def _places(
    system: System, known: Mapping[str, Known], found: Mapping[str, Document], *, seen: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """(schema, name) of every dataset that a name may stand for: seen before, known, or found now."""
    places: dict[str, tuple[str, str]] = {}
    elsewhere = [name for name in seen if name not in found and name not in known]
    for start in range(0, len(elsewhere), 500):
        rows = Observation.objects.filter(
            system=system, gone_at__isnull=True, dataset_name__in=elsewhere[start : start + 500]
        )
        columns = rows.values_list("dataset_name", "document__schema", "document__name")
        places |= {name: (schema, table) for name, schema, table in columns}
    places |= {name: (each["schema"], each["name"]) for name, each in found.items()}
    for name, each in known.items():
        places[name] = (each.document["schema"], each.document["name"])
    return places


def _words(system: System) -> list[Word]:
    rows = Pairing.objects.filter(system=system).order_by("pk")
    columns = ("pk", "dataset_name", "field_path", "new_name", "is_same", "person_id")
    return [Word(*values) for values in rows.values_list(*columns)]


def _forget(unused: list[int], *, covered: Covered) -> None:
    """A word on a rename holds while the source stays so: where it was looked for and met nothing, it is over."""
    rows = Pairing.objects.filter(pk__in=unused).values_list("pk", "dataset_name")
    Pairing.objects.filter(pk__in=[pk for pk, name in rows if covered(name)]).delete()


def _context(known: Mapping[str, Known]) -> Context:
    names = {each.dataset_id: name for name, each in known.items()}
    return context_of(names)


def _excluded(system: System) -> frozenset[str]:
    rows = Mute.objects.filter(system=system, mode=RejectMode.EXCLUDE, field_path="", lifted_at__isnull=True)
    return frozenset(rows.values_list("dataset_name", flat=True))
