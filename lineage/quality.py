"""How good metadata is: for each subject, what its events lack, name oddly, or leave open. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lineage.phases import Phase, read
from lineage.sessions import RUN_KEYS, Told

USUAL = 0.8
"""What so large a part of events does is the custom, from which the others differ."""
ENOUGH = 5
EXAMPLES = 5
STILL_OPEN = dt.timedelta(hours=1)
"""An action may go on for so long before its missing end is a finding."""

_RANDOM = re.compile(r"[0-9a-f]{32}\Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_STYLES = (
    ("an address", re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)),
    ("a path", re.compile(r".*/")),
    ("words with points", re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+\Z")),
    ("words with underscores", re.compile(r"[a-z0-9]+(_[a-z0-9]+)*\Z")),
    ("words with hyphens", re.compile(r"[a-z0-9]+(-[a-z0-9]+)+\Z")),
    ("capitals with underscores", re.compile(r"[A-Z0-9]+(_[A-Z0-9]+)*\Z")),
    ("words run together", re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")),
)


@dataclass(slots=True)
class Finding:
    """One thing that is not well: the rule, where, how often, of how many, and some events as examples."""

    rule: str
    action: str
    what: str
    of: int
    detail: str
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, event_id: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(event_id)


@dataclass(frozen=True, slots=True)
class SubjectQuality:
    """The findings of one subject; `score` is the part of its events that no finding is about."""

    subject: str
    events: int
    score: float
    findings: list[Finding]


Check = Callable[[Told], Iterable[tuple[str, str]]]
"""(schema, fault) for each way in which an event breaks a schema that it should keep."""


def audit(events: Iterable[Told], *, until: dt.datetime, check: Check = lambda _: ()) -> list[SubjectQuality]:
    """The quality of each subject, the worst first. `events` in the order in which they happened."""
    by_subject: dict[str, list[Told]] = defaultdict(list)
    for event in events:
        by_subject[event.subject].append(event)
    found = [_of(subject, told, until, check) for subject, told in by_subject.items()]
    return sorted(found, key=lambda each: (each.score, -each.events, each.subject))


def style_of(resource: str) -> str:
    """In which style a resource is named."""
    if not resource.strip():
        return "no name"
    if _RANDOM.match(resource):
        return "a random name"
    return next((name for name, form in _STYLES if form.match(resource)), "another style")


def _of(subject: str, events: list[Told], until: dt.datetime, check: Check) -> SubjectQuality:
    touched: set[str] = set()
    findings = [
        *_missing_keys(events, touched),
        *_odd_names(events, touched),
        *_left_open(events, until, touched),
        *_broken_schemas(events, check, touched),
    ]
    findings.sort(key=lambda each: (-each.count, each.rule, each.action, each.what))
    score = round(1 - len(touched) / len(events), 4)
    return SubjectQuality(subject, len(events), score, findings)


def _missing_keys(events: list[Told], touched: set[str]) -> list[Finding]:
    by_action: dict[str, list[Told]] = defaultdict(list)
    for event in events:
        by_action[event.action].append(event)
    found = []
    for action, told in by_action.items():
        if len(told) < ENOUGH:
            continue
        keys = Counter(key for event in told for key, value in event.values.items() if value != "")
        for key, count in sorted(keys.items()):
            if USUAL <= count / len(told) < 1:
                detail = f"{count} of {len(told)} events of {action or 'no action'} have it."
                finding = Finding("missing_key", action, key, len(told), detail)
                for event in told:
                    if not event.values.get(key):
                        finding.add(event.event_id)
                        touched.add(event.event_id)
                found.append(finding)
    return found


def _odd_names(events: list[Told], touched: set[str]) -> list[Finding]:
    styles = [style_of(event.resource) for event in events]
    counts = Counter(styles)
    usual, usual_count = counts.most_common(1)[0]
    is_custom = len(events) >= ENOUGH and usual_count / len(events) >= USUAL
    found: dict[str, Finding] = {}
    for event, style in zip(events, styles, strict=True):
        if style in {"no name", "a random name"}:
            detail = "The resource was not named, or got a random name: nobody finds it again."
        elif is_custom and style != usual:
            detail = f"{usual_count} of {len(events)} resources are named as {usual}."
        else:
            continue
        finding = found.setdefault(style, Finding("irregular_resource", "", style, len(events), detail))
        finding.add(event.event_id)
        touched.add(event.event_id)
    return list(found.values())


def _left_open(events: list[Told], until: dt.datetime, touched: set[str]) -> list[Finding]:
    waiting: dict[tuple[str, str, str], list[Told]] = defaultdict(list)
    begun: Counter[str] = Counter()
    for event in events:
        about, phase = read(event.action)
        run = next((event.values[key] for key in RUN_KEYS if event.values.get(key)), "")
        key = (event.resource, about, run)
        if phase is Phase.BEGAN:
            waiting[key].append(event)
            begun[event.action] += 1
        elif phase in {Phase.OVER, Phase.FAILED} and waiting[key]:
            waiting[key].pop()
    found: dict[str, Finding] = {}
    for left in waiting.values():
        for event in left:
            if until - event.at < STILL_OPEN:
                continue
            detail = "It began, and nothing says that it was completed or failed."
            finding = found.setdefault(
                event.action,
                Finding("not_closed", event.action, read(event.action)[0], begun[event.action], detail),
            )
            finding.add(event.event_id)
            touched.add(event.event_id)
    return list(found.values())


def _broken_schemas(events: list[Told], check: Check, touched: set[str]) -> list[Finding]:
    found: dict[tuple[str, str, str], Finding] = {}
    actions = Counter(event.action for event in events)
    for event in events:
        for schema, fault in check(event):
            finding = found.setdefault(
                (event.action, schema, fault),
                Finding("schema", event.action, schema, actions[event.action], fault),
            )
            finding.add(event.event_id)
            touched.add(event.event_id)
    return list(found.values())
