"""Reviews of any size for tests, written straight into the tables."""

from __future__ import annotations

from django.utils import timezone

from crawling.models import Change, CrawlRun, Proposal
from registry.models import System
from tests.factories import make_dataset, make_document, publish

_KINDS = (
    ("drop_field", "breaking", "Readers of this column would fail."),
    ("change_parameters", "breaking", "Values longer than 20 would be cut."),
    ("add_field", "safe", "New and optional."),
    ("change_comment", "safe", "Words only."),
    ("add_field", "safe", "New and optional."),
    ("change_nullable", "risky", "Rows without a value would be refused."),
)


def make_review(system: System, *, datasets: int, changes: int, new: int = 0) -> CrawlRun:
    """A finished crawl that found so many changes in so many datasets of one version, and new datasets beside."""
    run = CrawlRun.objects.create(
        system=system,
        trigger=CrawlRun.Trigger.COMMAND,
        status=CrawlRun.Status.COMPLETED,
        finished_at=timezone.now(),
        summary={"type_changes": changes},
    )
    rows: list[Change] = []
    for n in range(datasets):
        dataset = make_dataset(f"{system.code.replace('-', '_')}_orders_{n:04}", system=system)
        proposal = Proposal.objects.create(
            system=system,
            dataset=dataset,
            dataset_name=dataset.name,
            origin=Proposal.Origin.CRAWL,
            crawl_run=run,
            base_version=publish(dataset),
        )
        dataset.refresh_from_db()
        share = changes // datasets + (n < changes % datasets)
        rows += [_change(proposal, place) for place in range(1, share + 1)]
    rows += [_new(run, n) for n in range(new)]
    Change.objects.bulk_create(rows, batch_size=500)
    return run


def _change(proposal: Proposal, place: int) -> Change:
    op, risk, why = _KINDS[place % len(_KINDS)]
    field = {"native_type": "varchar(40)", "nullable": True}
    values = {
        "drop_field": (field, None),
        "add_field": (None, field),
        "change_comment": ("The old words", "The new words"),
        "change_nullable": (True, False),
    }
    before, after = values.get(op, ({"native_type": "varchar(40)"}, {"native_type": "varchar(20)"}))
    return Change(
        proposal=proposal, place=place, op=op, dataset_name=proposal.dataset_name, field_path=f"column_{place:03}",
        before=before, after=after, risk=risk, why=why, rule=op, fingerprint=f"{proposal.pk:032}{place:032}",
    )  # fmt: skip


def _new(run: CrawlRun, n: int) -> Change:
    name = f"public.new_{n:05}"
    proposal = Proposal.objects.create(
        system=run.system, dataset_name=name, origin=Proposal.Origin.CRAWL, crawl_run=run
    )
    return Change(
        proposal=proposal, place=1, op="add_dataset", dataset_name=name, risk="safe", why="New.", rule="add_dataset",
        after={**make_document(), "schema": "public", "name": f"new_{n:05}", "kind": "table"},
        fingerprint=f"{n:064}",
    )  # fmt: skip
