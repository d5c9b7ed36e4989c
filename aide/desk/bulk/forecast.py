"""What a batch would do, counted before anything is written: per value before and after, and who is left out why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aide.core.html import count_in_words
from aide.desk.bulk.plans import Plan
from aide.desk.bulk.weighing import Outcome, Scales, in_parts

SHOWN = 20
MOST_VALUES = 8
MOST_SKIPPED = 20
LABELS = {"owner": "Owner", "description": "Description", "status": "Status", "tags": "Tags"}
NOBODY = "(none)"


@dataclass
class Forecast:
    """Counts over all rows, and the first of them one by one."""

    total: int = 0
    changing: int = 0
    unchanged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    skipped_names: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    confirms: Counter[str] = field(default_factory=Counter)
    accepts: Counter[str] = field(default_factory=Counter)
    asks: Counter[str] = field(default_factory=Counter)
    first: list[Outcome] = field(default_factory=list)
    shown: int = SHOWN

    @property
    def left_out(self) -> int:
        return self.skipped.total()

    def add(self, outcome: Outcome) -> None:
        self.total += 1
        if outcome.why:
            self.skipped[outcome.why] += 1
            names = self.skipped_names.setdefault(outcome.why, [])
            if len(names) < MOST_SKIPPED:
                names.append(outcome.name)
        elif outcome.changes:
            self.changing += 1
        else:
            self.unchanged += 1
        if len(self.first) < self.shown:
            self.first.append(outcome)
        if outcome.changes:
            self._count(outcome)

    def _count(self, outcome: Outcome) -> None:
        for name, value in outcome.after.items():
            change = (shown(outcome.before[name]), shown(value))
            self.values.setdefault(name, Counter())[change] += 1
        for tag in outcome.confirms:
            self.confirms[tag.code] += 1
            self.accepts[tag.code] += outcome.tags.get(tag.code) == "suggested"
        for tag in outcome.asks:
            self.asks[tag.code] += 1

    def lines(self) -> list[dict[str, Any]]:
        """Before and after with their counts, the most frequent first."""
        found: list[dict[str, Any]] = []
        for name, changes in self.values.items():
            for (before, after), count in changes.most_common(MOST_VALUES):
                found.append({"what": LABELS[name], "before": before, "after": after, "count": count})
            rest = len(changes) - MOST_VALUES
            if rest > 0:
                some = sum(count for _, count in changes.most_common()[MOST_VALUES:])
                found.append(
                    {"what": LABELS[name], "before": f"{rest} other values", "after": "", "count": some}
                )
        for code, count in self.confirms.most_common():
            accepted = self.accepts[code]
            before = f"suggested on {accepted:,}" if accepted else "not tagged"
            found.append({"what": "Personal data", "before": before, "after": f"PII {code}", "count": count})
        for code, count in self.asks.most_common():
            after = "waits for a second person to remove it"
            found.append({"what": "Personal data", "before": f"PII {code}", "after": after, "count": count})
        return found

    def left_out_lines(self) -> list[dict[str, Any]]:
        return [
            {"why": why, "count": count, "names": self.skipped_names[why]}
            for why, count in self.skipped.most_common()
        ]


def foresee(plans: Mapping[int, Plan], *, subject: str, by: Any, keep_all: bool = False) -> Forecast:
    """What the plans would do now, for all rows; two statements for each thousand.

    The outcomes of the first 20 rows are kept, or of all.
    """
    scales, forecast = Scales(subject, by=by), Forecast(shown=len(plans) if keep_all else SHOWN)
    for part in in_parts(plans):
        for outcome in scales.weigh(part):
            forecast.add(outcome)
    return forecast


def shown(value: Any) -> str:
    """A value as one line."""
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    text = " ".join(text.split())
    return (text if len(text) <= 120 else f"{text[:119]}…") or NOBODY


def plan_in_words(plan: Plan) -> str:
    """What a plan does to every row, as one sentence without its end."""
    said = []
    if plan.add_tags:
        said.append(f"tag as {', '.join(plan.add_tags)}")
    if plan.remove_tags:
        said.append(f"ask to remove {', '.join(plan.remove_tags)}")
    if plan.add_words:
        said.append(f"add the tags {', '.join(plan.add_words)}")
    if plan.remove_words:
        said.append(f"remove the tags {', '.join(plan.remove_words)}")
    if plan.owner is not None:
        said.append(f"set the owner to {plan.owner}" if plan.owner else "clear the owner")
    if plan.status is not None:
        said.append(f"set the status to {plan.status}")
    if plan.description:
        said.append("describe those without a description")
    text = "; ".join(said)
    return text[:1].upper() + text[1:]


def done_in_words(*, changed: int, skipped: int, tags_only: bool) -> str:
    """ "Tagged 312, skipped 6"."""
    verb = "Tagged" if tags_only else "Changed"
    return f"{verb} {changed:,}" + (f", skipped {count_in_words(skipped, 'row')}" if skipped else "")
