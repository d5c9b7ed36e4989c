"""The review of one run as values for its page: sections, rows, counts; a constant number of statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, Q, prefetch_related_objects

from aide.accounts.models import User
from aide.accounts.roles import APPROVER, Capability, can
from crawling import diff, review
from crawling.admin import standing, wording
from crawling.admin.standing import Standing, Viewer
from crawling.baseline import personal_data
from crawling.models import Change, CrawlRun, Decision, Proposal
from crawling.review.putting import as_change
from registry import reading
from registry.catalogues import catalogue_for

RISKS = (Change.Risk.BREAKING, Change.Risk.RISKY, Change.Risk.SAFE)
ORDER = {risk: place for place, risk in enumerate(RISKS)}
NEW = "new"
ROWS_A_PAGE = 500
# Columns that only a run's own page needs.
_RUN_REST = ("config", "coverage", "summary", "report", "timings")


@dataclass
class Row:
    """One change as it is shown."""

    change: Change
    standing: Standing
    people: int
    tags: tuple[str, ...] = ()
    needs: list[Change] = field(default_factory=list)
    now: Any = None
    """For a stale change: what the registry has at its place now."""

    @property
    def pk(self) -> int:
        return self.change.pk

    @property
    def is_rename(self) -> bool:
        return self.change.op in wording.RENAME_OPS

    @property
    def kind(self) -> str:
        return wording.kind_in_words(self.change)

    @property
    def title(self) -> str:
        return wording.title_of(self.change)

    @property
    def subject(self) -> Any:
        return wording.subject(self.change)

    @property
    def before(self) -> Any:
        return wording.before(self.change)

    @property
    def after(self) -> Any:
        return wording.after(self.change)

    @property
    def comment(self) -> str:
        return wording.comment_of(self.change)

    @property
    def columns(self) -> list[dict[str, Any]]:
        return wording.columns_of(self.change)

    @property
    def now_shown(self) -> Any:
        return wording.value_of(self.change, self.now)


@dataclass
class Section:
    """The rows of one dataset; the datasets that are new share one section."""

    key: str
    title: str
    place: tuple[str, str] = ("", "")
    """Schema and table of a database's dataset."""
    short: str = ""
    """The name in the index: without the schema where the page shows only one."""
    dataset_id: int | None = None
    version: Any = None
    rows: list[Row] = field(default_factory=list)
    open_states: tuple[str, ...] = standing.UNDECIDED
    """For a second person, what waits is what is open."""

    @property
    def is_new(self) -> bool:
        return self.key == NEW

    @property
    def risks(self) -> list[tuple[str, int]]:
        found = Counter(row.change.risk for row in self.rows)
        return [(risk.value, found[risk]) for risk in RISKS if found[risk]]

    @property
    def open_safe(self) -> int:
        return sum(1 for row in self.rows if is_open_safe(row))

    @property
    def undecided(self) -> int:
        return sum(1 for row in self.rows if row.standing.state in self.open_states)

    @property
    def decided(self) -> int:
        return len(self.rows) - self.undecided


@dataclass
class Review:
    """Everything the page says. `rows` are all changes, `sections` those that the filters leave."""

    run: CrawlRun
    viewer: Viewer
    rows: list[Row]
    newer: CrawlRun | None = None
    sections: list[Section] = field(default_factory=list)
    more: int = 0

    @property
    def proposals(self) -> list[Proposal]:
        """The live ones."""
        found = {row.change.proposal_id: row.change.proposal for row in self.rows}
        return [each for each in found.values() if each.status in Proposal.LIVE]

    @property
    def datasets(self) -> int:
        return len({row.change.proposal_id for row in self.rows})

    @property
    def risks(self) -> list[tuple[str, int]]:
        found = Counter(row.change.risk for row in self.rows)
        return [(risk.value, found[risk]) for risk in RISKS if found[risk]]

    @property
    def decided(self) -> int:
        return len(self.rows) - self.undecided

    @property
    def undecided(self) -> int:
        return sum(1 for row in self.rows if row.standing.state in standing.UNDECIDED)

    @property
    def noted(self) -> int:
        return sum(1 for row in self.rows if row.standing.state in standing.NOTED)

    @property
    def open_safe(self) -> int:
        return sum(1 for row in self.rows if is_open_safe(row))

    @property
    def waiting(self) -> int:
        return sum(1 for row in self.rows if row.standing.state == standing.WAITING)

    @property
    def to_confirm(self) -> list[Row]:
        """What waits for a second person and this one may confirm."""
        return [r for r in self.rows if r.standing.state == standing.WAITING and r.standing.may_approve]

    @property
    def shown(self) -> int:
        return sum(len(section.rows) for section in self.sections)

    @property
    def shown_decided(self) -> int:
        return sum(section.decided for section in self.sections)

    @property
    def replaced(self) -> int:
        return sum(1 for row in self.rows if row.standing.state == standing.REPLACED)

    @property
    def is_frozen(self) -> bool:
        return all(row.standing.state in standing.FROZEN for row in self.rows)


def is_open_safe(row: Row) -> bool:
    return row.standing.state == standing.OPEN and row.change.risk == Change.Risk.SAFE


def load(run: CrawlRun, user: Any) -> Review:
    """The whole review: the run's own changes, decided or not, and what earlier runs left open in its scope."""
    live = review.proposals_of(run)
    earlier = [each.pk for each in live if each.crawl_run_id != run.pk]
    changes = list(
        Change.objects.filter(Q(proposal__crawl_run=run) | Q(proposal_id__in=earlier))
        .select_related(
            "proposal__dataset__current_schema__published_by",
            "proposal__crawl_run",
            "draft__person",
            "applied_version",
        )
        .defer(*(f"proposal__crawl_run__{name}" for name in _RUN_REST))
        .order_by("proposal_id", "place")
    )
    _share(changes, run)
    _load_decisions(changes)
    stale = _stale(changes, run)
    viewer = Viewer(
        user=user,
        may_decide=can(user, Capability.DECIDE, run.system),
        approvers=_approvers() if any(change.state == Change.State.WAITING for change in changes) else (),
    )
    needs = _needs(changes)
    tags = _tags(changes)
    rows = [
        Row(
            change=change,
            standing=standing.standing_of(change, viewer=viewer, is_stale=change.pk in stale),
            people=review.people_needed(change.risk),
            tags=tags.get(change.pk, ()),
            needs=needs.get(change.pk, []),
            now=stale.get(change.pk),
        )
        for change in changes
    ]
    return Review(run=run, viewer=viewer, rows=rows)


def arrange(page: Review, *, risk: str, dataset: str, show: str, need: str, start: int = 0) -> None:
    """Fill the sections with the rows that the filters leave, datasets with breaking changes first."""
    rows = [row for row in page.rows if _fits(row, risk=risk, show=show, need=need)]
    sections: dict[str, Section] = {}
    for row in rows:
        section = _section_of(row, sections)
        section.rows.append(row)
    found = sorted(sections.values(), key=_rank)
    if len({section.place[0] for section in found if not section.is_new}) == 1:
        for section in found:
            section.short = section.place[1] or section.title
    if dataset:
        found = [section for section in found if section.key == dataset]
    for section in found:
        section.open_states = (standing.WAITING,) if need == "second" else standing.UNDECIDED
        section.rows.sort(key=lambda row: (ORDER[Change.Risk(row.change.risk)], row.change.place))
    page.sections = list(_cut(found, start=start))
    shown = sum(len(section.rows) for section in page.sections)
    page.more = max(0, sum(len(section.rows) for section in found) - start - shown)


def _fits(row: Row, *, risk: str, show: str, need: str) -> bool:
    if risk and row.change.risk != risk:
        return False
    if need == "second":
        return row.change.state == Change.State.WAITING and row.standing.state != standing.REPLACED
    return show != "open" or row.standing.state in standing.UNDECIDED


def _section_of(row: Row, sections: dict[str, Section]) -> Section:
    proposal = row.change.proposal
    is_new = row.change.op == Change.Op.ADD_DATASET
    key = NEW if is_new else str(proposal.pk)
    if key not in sections:
        title = "New datasets" if is_new else proposal.dataset_name
        dataset = None if is_new else proposal.dataset
        sections[key] = Section(
            key,
            title,
            reading.place_of(dataset) if dataset else ("", ""),
            title,
            dataset.pk if dataset else None,
            dataset.current_schema if dataset else None,
        )
    return sections[key]


def _rank(section: Section) -> tuple[Any, ...]:
    worst = min(ORDER[Change.Risk(row.change.risk)] for row in section.rows)
    return (section.is_new, worst, section.title)


def _cut(sections: Iterable[Section], *, start: int) -> Iterable[Section]:
    """At most one page of rows, from `start` on."""
    skip, left = start, ROWS_A_PAGE
    for section in sections:
        kept = section.rows[skip : skip + left]
        skip = max(0, skip - len(section.rows))
        left -= len(kept)
        if kept:
            section.rows = kept
            yield section
        if left <= 0:
            return


def _share(changes: Sequence[Change], run: CrawlRun) -> None:
    """One object a proposal, and the run's system for all, so that asking for rights reads nothing."""
    proposals: dict[int, Proposal] = {}
    for change in changes:
        proposal = proposals.setdefault(change.proposal_id, change.proposal)
        proposal.system = run.system
        change.proposal = proposal


def _load_decisions(changes: Sequence[Change]) -> None:
    decided = [change for change in changes if change.state != Change.State.OPEN]
    if decided:
        prefetch_related_objects(decided, Prefetch("decisions", Decision.objects.select_related("person")))


def _needs(changes: Sequence[Change]) -> dict[int, list[Change]]:
    """For each open change the ones it needs that are not in force."""
    by_pk = {change.pk: change for change in changes}
    link = Change.requires.through
    found: dict[int, list[Change]] = defaultdict(list)
    proposals = {change.proposal_id for change in changes if change.state in Change.UNDECIDED}
    if not proposals:
        return found
    pairs = link.objects.filter(from_change__proposal_id__in=proposals)
    for one, other in pairs.values_list("from_change_id", "to_change_id"):
        need = by_pk.get(other)
        if need is not None and need.state != Change.State.APPLIED:
            found[one].append(need)
    return found


def _tags(changes: Sequence[Change]) -> dict[int, tuple[str, ...]]:
    touched = [change for change in changes if change.touches_pii and change.proposal.dataset_id]
    if not touched:
        return {}
    tags = personal_data({change.proposal.dataset_id for change in touched if change.proposal.dataset_id})
    found = {}
    for change in touched:
        dataset_id = change.proposal.dataset_id or 0
        if change.field_path:
            found[change.pk] = tags.get((dataset_id, change.field_path), ())
        else:
            codes = {
                code for (key, _), found_here in tags.items() if key == dataset_id for code in found_here
            }
            found[change.pk] = tuple(sorted(codes))
    return found


def _stale(changes: Sequence[Change], run: CrawlRun) -> dict[int, Any]:
    """By change, what the registry has now where it is no longer what the change was computed against."""
    open_changes: dict[int, list[Change]] = defaultdict(list)
    for change in changes:
        proposal = change.proposal
        if (
            change.state not in Change.UNDECIDED
            or proposal.status not in Proposal.LIVE
            or proposal.dataset is None
        ):
            continue
        if (
            proposal.base_version_id != proposal.dataset.current_schema_id
            or change.state == Change.State.STALE
        ):
            open_changes[proposal.pk].append(change)
    if not open_changes:
        return {}
    datasets = {rows[0].proposal.dataset for rows in open_changes.values()}
    current = {each.current_schema_id: each for each in datasets if each and each.current_schema_id}
    documents = reading.documents_of(current, names={d.pk: reading.place_of(d) for d in current.values()})
    catalogue = catalogue_for(run.system.flavor.code)
    found: dict[int, Any] = {}
    for rows in open_changes.values():
        dataset = rows[0].proposal.dataset
        document = documents.get(dataset.current_schema_id) if dataset and dataset.current_schema_id else None
        values = {row.fingerprint: as_change(row) for row in rows}
        gone = diff.stale(document, values.values(), catalogue=catalogue)
        marked = {each.fingerprint for each in gone}
        for row in rows:
            if row.fingerprint in marked or row.state == Change.State.STALE:
                found[row.pk] = diff.present_value(
                    document, values[row.fingerprint], changes=values.values(), catalogue=catalogue
                )
    return found


def _approvers() -> tuple[str, ...]:
    people = User.objects.filter(is_active=True, user_type=User.Type.REGULAR, groups__name=APPROVER)
    return tuple(person.get_full_name() for person in people.order_by("email")[:5])
