"""How well the classifier does on labelled columns: precision, recall, right labels, false alarms on traps.

Columns over which careful people could disagree (`borderline`) are classified but not scored.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from registry.pii import Column, RuleSet, classify, default_rules

HERE = Path(__file__).parent
KNOWN = HERE / "known.csv"  # schemas that the rules and words were written with
UNSEEN = HERE / "unseen.csv"  # schemas that were labelled first and measured only then
LATER = HERE / "later.csv"  # the same once more, after the mistakes in the others had been looked at
FILES = (KNOWN, UNSEEN, LATER)


@dataclass(frozen=True)
class Labelled:
    """A column of a public schema, and what a person says that it holds (nothing: no personal data)."""

    source: str
    column: Column
    labels: frozenset[str]
    borderline: bool
    trap: bool
    language: str


@dataclass
class Score:
    """Counts of one group of columns that are not borderline."""

    hits: int = 0
    false_alarms: int = 0
    missed: int = 0
    right: int = 0
    traps: int = 0
    trapped: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.false_alarms) if self.hits + self.false_alarms else 1.0

    @property
    def recall(self) -> float:
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def right_labels(self) -> float:
        return self.right / self.hits if self.hits else 1.0

    @property
    def trap_alarms(self) -> float:
        return self.trapped / self.traps if self.traps else 0.0

    def line(self, name: str) -> str:
        return (
            f"{name:<18} {self.hits + self.missed:>5} {self.precision:>9.3f} {self.recall:>7.3f} "
            f"{self.right_labels:>6.3f} {self.traps:>5} {self.trap_alarms:>8.3f}"
        )


HEAD = f"{'':<18} {'clear':>5} {'precision':>9} {'recall':>7} {'label':>6} {'traps':>5} {'alarms':>8}"


def read(path: Path) -> list[Labelled]:
    """The labelled columns of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Labelled(
                row["source"],
                Column(row["table"], row["column"], row["type"]),
                frozenset(filter(None, row["labels"].split(";"))),
                row["borderline"] == "1",
                row["trap"] == "1",
                row["language"],
            )
            for row in csv.DictReader(file)
        ]


@dataclass
class Scores:
    """All columns together, by language, and by label."""

    total: Score
    languages: dict[str, Score]
    labels: dict[str, Score]

    def table(self, title: str) -> str:
        lines = [title, HEAD, self.total.line("all")]
        lines += [score.line(f"  {name}") for name, score in sorted(self.languages.items())]
        lines += [score.line(f"  {name}") for name, score in sorted(self.labels.items())]
        return "\n".join(lines)


def measure(columns: Sequence[Labelled], *, rules: RuleSet | None = None, together: bool = False) -> Scores:
    """Classifies, source by source or all `together`, and counts.

    A label's precision is that of columns with this best suggestion, its recall that of columns with the label.
    """
    groups: dict[str, list[Labelled]] = defaultdict(list)
    for each in columns:
        groups["" if together else each.source].append(each)
    scores = Scores(Score(), defaultdict(Score), defaultdict(Score))
    for group in groups.values():
        found = classify([each.column for each in group], rules=rules or default_rules())
        for each, suggestions in zip(group, found, strict=True):
            if not each.borderline:
                _count(scores, each, suggestions[0].tag if suggestions else "")
    return scores


def _count(scores: Scores, each: Labelled, tag: str) -> None:
    for score in (scores.total, scores.languages[each.language]):
        score.hits += bool(tag and each.labels)
        score.false_alarms += bool(tag and not each.labels)
        score.missed += bool(each.labels and not tag)
        score.right += tag in each.labels
        score.traps += each.trap
        score.trapped += bool(each.trap and tag)
    if bool(tag) != bool(each.labels) or (tag and tag not in each.labels):
        said, meant = tag or "nothing", ", ".join(sorted(each.labels)) or "nothing"
        scores.total.examples.append(
            f"{each.source} {each.column.table}.{each.column.name}: {said}, not {meant}"
        )
    for label in each.labels:
        score = scores.labels[label]
        score.hits += tag == label
        score.right += tag == label
        score.missed += not tag or tag not in each.labels
    if tag and tag not in each.labels:
        scores.labels[tag].false_alarms += 1


def mistakes(scores: Scores) -> Iterable[str]:
    """The columns that are not scored right, each in words."""
    return scores.total.examples
