"""From differences to proposals: keep the live one that says the same, supersede the one that no longer does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from aide.core import bulk
from crawling import diff
from crawling.baseline import Known
from crawling.diff import MANY_GONE, DatasetDiff
from crawling.models import Change, CrawlRun, Decision, Draft, Mute, Proposal, RejectMode

BATCH = 500
NOBODY: Mapping[tuple[str, str], int] = {}


Marks = frozenset[tuple[str, str, bool]]
"""What changes are, how they are rated, whether very many are gone: by these a live proposal says the same."""


@dataclass(frozen=True)
class Offer:
    """The changes of one dataset that are to be asked about."""

    difference: DatasetDiff
    changes: tuple[diff.Change, ...]

    @property
    def marks(self) -> Marks:
        return frozenset(_mark(c.fingerprint, c.risk, c.rule) for c in self.changes)


def propose(
    run: CrawlRun,
    diffs: Sequence[DatasetDiff],
    *,
    known: Mapping[str, Known],
    observations: Mapping[str, int],
    covered: Callable[[str], bool],
    people: Mapping[tuple[str, str], int] = NOBODY,
) -> list[Proposal]:
    """Bring the live proposals of the run's system up to what was found, and return the new ones.

    What was rejected and is still so at the source is not asked about again. Draft decisions and first decisions
    go over to the new proposal where it holds the same change. What was not covered stays as it is. `people` are
    those who split or paired changes, by dataset and fingerprint.
    """
    offers = _unmuted(run, diffs, covered=covered)
    live = {
        proposal.dataset_name: proposal
        for proposal in Proposal.objects.select_for_update()
        .filter(system=run.system, origin=Proposal.Origin.CRAWL, status__in=Proposal.LIVE)
        .order_by("pk")  # the order in which applying locks them, too
    }
    asked = _undecided(live.values())
    fresh, ended = [], []
    for offer in offers:
        present = live.pop(offer.difference.name, None)
        if present is not None and asked.get(present.pk, frozenset()) == offer.marks:
            continue
        if present is not None:
            ended.append(present)
        if offer.changes:
            fresh.append((offer, present))
    # What is covered and differs no longer: the source went back, or the registry went there by another way.
    ended += [each for name, each in live.items() if covered(name)]
    now = timezone.now()
    _supersede(ended, now=now)
    return _create(run, fresh, known=known, observations=observations, people=people)


def _unmuted(run: CrawlRun, diffs: Sequence[DatasetDiff], *, covered: Callable[[str], bool]) -> list[Offer]:
    mutes = list(Mute.objects.filter(system=run.system, lifted_at__isnull=True))
    if not mutes:
        return [Offer(each, each.changes) for each in diffs]
    still = {(each.name, change.fingerprint) for each in diffs for change in each.changes}
    over = [
        mute.pk
        for mute in mutes
        if mute.mode == RejectMode.MUTE
        and (mute.dataset_name, mute.fingerprint) not in still
        and covered(mute.dataset_name)
    ]
    if over:
        Mute.objects.filter(pk__in=over).update(lifted_at=timezone.now())
    quiet = {(mute.dataset_name, mute.fingerprint) for mute in mutes}
    excluded = {
        (mute.dataset_name, mute.field_path)
        for mute in mutes
        if mute.mode == RejectMode.EXCLUDE and mute.field_path
    }
    return [Offer(each, _without(each, quiet=quiet, excluded=excluded)) for each in diffs]


def _without(
    difference: DatasetDiff, *, quiet: set[tuple[str, str]], excluded: set[tuple[str, str]]
) -> tuple[diff.Change, ...]:
    """The changes that are not muted and do not need a muted one."""
    name = difference.name
    unwanted = {
        change.fingerprint
        for change in difference.changes
        if (name, change.fingerprint) in quiet or (name, change.field or "") in excluded
    }
    return diff.left_without(difference.changes, unwanted)


def _undecided(proposals: Iterable[Proposal]) -> dict[int, Marks]:
    by_proposal: dict[int, set[tuple[str, str, bool]]] = {proposal.pk: set() for proposal in proposals}
    ids = list(by_proposal)
    for start in range(0, len(ids), BATCH):
        rows = Change.objects.filter(
            proposal_id__in=ids[start : start + BATCH], state__in=[Change.State.OPEN, Change.State.WAITING]
        )
        for proposal_id, *mark in rows.values_list("proposal_id", "fingerprint", "risk", "rule"):
            by_proposal[proposal_id].add(_mark(*mark))
    return {key: frozenset(value) for key, value in by_proposal.items()}


def _mark(fingerprint: str, risk: str, rule: str) -> tuple[str, str, bool]:
    return fingerprint, risk, rule == MANY_GONE


def _supersede(proposals: Sequence[Proposal], *, now: object) -> None:
    ids = [proposal.pk for proposal in proposals]
    for start in range(0, len(ids), BATCH):
        Proposal.objects.filter(pk__in=ids[start : start + BATCH]).update(
            status=Proposal.Status.SUPERSEDED, updated_at=now
        )


def _create(
    run: CrawlRun,
    fresh: Sequence[tuple[Offer, Proposal | None]],
    *,
    known: Mapping[str, Known],
    observations: Mapping[str, int],
    people: Mapping[tuple[str, str], int],
) -> list[Proposal]:
    proposals = []
    for offer, _ in fresh:
        there = known.get(offer.difference.name)
        proposals.append(
            Proposal(
                system=run.system,
                dataset_id=there.dataset_id if there else None,
                dataset_name=offer.difference.name,
                origin=Proposal.Origin.CRAWL,
                crawl_run=run,
                base_version_id=there.schema_id if there else None,
                observation_id=observations.get(offer.difference.after_name or ""),
            )
        )
    bulk.insert(proposals)
    changes = [
        change_row(proposal, change, place)
        for proposal, (offer, _) in zip(proposals, fresh, strict=True)
        for place, change in enumerate(offer.changes, start=1)
    ]
    for row in changes:
        row.paired_by_id = people.get((row.proposal.dataset_name, row.fingerprint))
    bulk.insert(changes)
    link_requirements(changes, [change for offer, _ in fresh for change in offer.changes])
    carried = []
    for proposal, (_, earlier) in zip(proposals, fresh, strict=True):
        if earlier is not None:
            earlier.superseded_by = proposal
            carried.append(earlier)
    bulk.update(carried, ["superseded_by"])
    _carry_over(carried, changes)
    return proposals


def change_row(proposal: Proposal, change: diff.Change, place: int) -> Change:
    """The row of a change."""
    return Change(
        proposal=proposal,
        place=place,
        op=change.op,
        dataset_name=change.dataset,
        field_path=change.field or "",
        before=change.before,
        after=change.after,
        risk=change.risk,
        why=change.why,
        rule=change.rule,
        evidence=[dict(each) for each in change.evidence],
        fingerprint=change.fingerprint,
        touches_pii=change.touches_pii,
    )


def link_requirements(rows: Sequence[Change], changes: Sequence[diff.Change]) -> None:
    """Note which saved change needs which; `rows` and `changes` go side by side."""
    ids = {(row.proposal_id, row.fingerprint): row.pk for row in rows}
    link = Change.requires.through
    links = [
        link(from_change_id=row.pk, to_change_id=ids[row.proposal_id, each])
        for row, change in zip(rows, changes, strict=True)
        for each in change.requires
        if (row.proposal_id, each) in ids
    ]
    bulk.insert(links)


def _carry_over(earlier: Sequence[Proposal], changes: Sequence[Change]) -> None:
    """Take drafts and first decisions over to the same changes of the newer proposals."""
    older = {old.superseded_by_id: old.pk for old in earlier}
    heirs = {
        (older[change.proposal_id], change.fingerprint): change
        for change in changes
        if change.proposal_id in older
    }
    old_ids = [old.pk for old in earlier]
    drafts, decisions, waiting = [], [], []
    for start in range(0, len(old_ids), BATCH):
        chunk = old_ids[start : start + BATCH]
        for draft in Draft.objects.filter(change__proposal_id__in=chunk).select_related("change"):
            heir = heirs.get((draft.change.proposal_id, draft.change.fingerprint))
            if heir is not None:
                drafts.append(
                    Draft(
                        change=heir, person_id=draft.person_id, verdict=draft.verdict, mode=draft.mode,
                        reason=draft.reason,
                    )
                )  # fmt: skip
        given = Decision.objects.filter(
            change__proposal_id__in=chunk, change__state=Change.State.WAITING
        ).select_related("change")
        for decision in given:
            heir = heirs.get((decision.change.proposal_id, decision.change.fingerprint))
            if heir is not None:
                heir.state = Change.State.WAITING
                waiting.append(heir)
                decisions.append(
                    Decision(
                        change=heir, person_id=decision.person_id, order=decision.order, mode=decision.mode,
                        verdict=decision.verdict, reason=decision.reason, at=decision.at,
                    )
                )  # fmt: skip
    bulk.insert(drafts)
    bulk.insert(decisions)
    bulk.update(waiting, ["state"])
