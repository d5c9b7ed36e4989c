"""The review of one run as values for its page: rows, sections, counts, and what of them one page shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from crawling.admin import standing, wording
from crawling.admin.review_batches import Reviewed
from crawling.admin.standing import Standing, Viewer
from crawling.models import Change, Comment, Proposal
from registry import reading

RISKS = (Change.Risk.BREAKING, Change.Risk.RISKY, Change.Risk.SAFE)
ORDER = {risk: place for place, risk in enumerate(RISKS)}
NEW = "new"
# Up to this many changes are one page; a longer review has some datasets a page, their safe changes folded.
ROWS_A_PAGE = 500
DATASETS_A_PAGE = 25
FOLD_FROM = 4


@dataclass
class Row:
    """One change as it is shown."""

    change: Change
    standing: Standing
    people: int
    tags: tuple[str, ...] = ()
    needs: list[Change] = field(default_factory=list)
    may_pair: bool = False
    """Whether something else in the review may be its other end."""
    comments: list[Comment] = field(default_factory=list)
    now: Any = None
    """For a stale change: what the registry has at its place now."""

    @property
    def pk(self) -> int:
        return self.change.pk

    @property
    def has_readers(self) -> bool:
        """Whether its reason counts readers, so that one will ask who they are."""
        return "One reader is known" in self.change.why or "readers are known" in self.change.why

    @property
    def is_rename(self) -> bool:
        return self.change.op in wording.RENAME_OPS

    @property
    def may_split(self) -> bool:
        if self.change.proposal.crawl_run_id is None:
            return False
        return self.is_rename and self.standing.may_approve and self.change.state == Change.State.OPEN

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
    shown: list[Row] = field(default_factory=list)
    folded: int = 0
    """Safe changes that are loaded when someone opens them."""
    rest: int = 0
    """Changes beyond those that one page can hold."""
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

    run: Reviewed
    viewer: Viewer
    rows: list[Row]
    sections: list[Section] = field(default_factory=list)
    next_start: int | None = None
    more: str = ""
    """What the next page holds, in words."""
    matching: int = 0
    """Changes that the filters leave, on this page and others."""
    matching_decided: int = 0

    @cached_property
    def proposals(self) -> list[Proposal]:
        """The live ones."""
        found = {row.change.proposal_id: row.change.proposal for row in self.rows}
        return [each for each in found.values() if each.status in Proposal.LIVE]

    @cached_property
    def datasets(self) -> int:
        return len({row.change.proposal_id for row in self.rows})

    @cached_property
    def risks(self) -> list[tuple[str, int]]:
        found = Counter(row.change.risk for row in self.rows)
        return [(risk.value, found[risk]) for risk in RISKS if found[risk]]

    @cached_property
    def decided(self) -> int:
        return len(self.rows) - self.undecided

    @cached_property
    def undecided(self) -> int:
        return sum(1 for row in self.rows if row.standing.state in standing.UNDECIDED)

    @cached_property
    def noted(self) -> int:
        return sum(1 for row in self.rows if row.standing.state in standing.NOTED)

    @cached_property
    def open_safe(self) -> int:
        return sum(1 for row in self.rows if is_open_safe(row))

    @cached_property
    def waiting(self) -> int:
        return sum(1 for row in self.rows if row.standing.state == standing.WAITING)

    @cached_property
    def to_confirm(self) -> list[Row]:
        """What waits for a second person and this one may confirm."""
        return [r for r in self.rows if r.standing.state == standing.WAITING and r.standing.may_approve]

    @cached_property
    def replaced(self) -> int:
        return sum(1 for row in self.rows if row.standing.state == standing.REPLACED)

    @cached_property
    def is_frozen(self) -> bool:
        return all(row.standing.state in standing.FROZEN for row in self.rows)


def is_open_safe(row: Row) -> bool:
    return row.standing.state == standing.OPEN and row.change.risk == Change.Risk.SAFE


def sections_of(page: Review, *, risk: str = "", show: str = "", need: str = "") -> list[Section]:
    """The rows that the filters leave by dataset, datasets with breaking changes first."""
    sections: dict[str, Section] = {}
    for row in page.rows:
        if _fits(row, risk=risk, show=show, need=need):
            _section_of(row, sections).rows.append(row)
    found = sorted(sections.values(), key=_rank)
    if len({section.place[0] for section in found if not section.is_new}) == 1:
        for section in found:
            section.short = section.place[1] or section.title
    for section in found:
        section.open_states = (standing.WAITING,) if need == "second" else standing.UNDECIDED
        section.rows.sort(key=lambda row: (ORDER[Change.Risk(row.change.risk)], row.change.place))
    return found


def arrange(page: Review, *, risk: str, dataset: str, show: str, need: str, start: int = 0) -> None:
    """Fill the page with the sections, and in them the rows, that it shows from `start` on."""
    found = sections_of(page, risk=risk, show=show, need=need)
    if dataset:
        found = [section for section in found if section.key == dataset]
    page.matching = sum(len(section.rows) for section in found)
    page.matching_decided = sum(section.decided for section in found)
    if page.matching <= ROWS_A_PAGE:
        for section in found:
            section.shown = section.rows
        page.sections = found
    elif dataset:
        _show_rows(page, found, start)
    else:
        _show_datasets(page, found, start, fold=not risk)


def _show_rows(page: Review, sections: list[Section], start: int) -> None:
    """One dataset that is too large for a page: its rows from `start` on."""
    for section in sections:
        section.shown = section.rows[start : start + ROWS_A_PAGE]
    page.sections = [section for section in sections if section.shown]
    left = page.matching - start - ROWS_A_PAGE
    if left > 0:
        page.next_start, page.more = start + ROWS_A_PAGE, _next(min(left, ROWS_A_PAGE), "change")


def _show_datasets(page: Review, sections: list[Section], start: int, *, fold: bool) -> None:
    """A page of datasets from `start` on; each new one counts as one."""
    end, place = start + DATASETS_A_PAGE, 0
    for section in sections:
        size = len(section.rows) if section.is_new else 1
        first, last = max(0, start - place), min(size, end - place)
        place += size
        if first >= last:
            continue
        section.shown = section.rows[first:last] if section.is_new else section.rows
        if fold and not section.is_new:
            _fold(section)
        section.rest = len(section.shown[ROWS_A_PAGE:])
        section.shown = section.shown[:ROWS_A_PAGE]
        page.sections.append(section)
    if place > end:
        page.next_start, page.more = end, _next(min(place - end, DATASETS_A_PAGE), "dataset")


def _fold(section: Section) -> None:
    safe = sum(1 for row in section.rows if row.change.risk == Change.Risk.SAFE)
    if safe >= FOLD_FROM:
        section.shown = [row for row in section.rows if row.change.risk != Change.Risk.SAFE]
        section.folded = safe


def _next(count: int, noun: str) -> str:
    return f"Next {count} {noun}{'' if count == 1 else 's'}"


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
