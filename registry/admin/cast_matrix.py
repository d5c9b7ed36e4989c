"""What becomes of each type of one flavor in each type of another: rows, cells and counts for the matrix page."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

from django.db.models import Count

from registry.casting import Cast, Planner, planner
from registry.casting.generic import params_for
from registry.casts import planner_for, rule_of, rules_between
from registry.models import CastRule, Dataset, FieldBinding
from registry.typesystem import (
    Example,
    TypeDef,
    TypeExpr,
    TypeSystemError,
    build,
    check_params,
    parse,
)
from registry.values import NONE, values_of

_NOT_FOR_COLUMNS = ("pseudo", "user_defined")
_SIZES = (
    "precision",
    "scale",
    "length",
    "fsp",
    "fields",
    "members",
    "element",
    "items",
    "key",
    "value",
    "values",
)
MARKS = {"lossless": "✓", "lossy": "≈", "unsafe": "!", "none": "\u2013"}
MOST_PAIRS = 24


@dataclass(frozen=True)
class Cell:
    """One type in another; `is_chosen` when this is what a column becomes."""

    code: str
    safety: str
    is_chosen: bool = False
    has_rule: bool = False


@dataclass(frozen=True)
class Row:
    """A type of the source with an instance of it, what that becomes, and how many columns are of it."""

    typedef: TypeDef
    sample: TypeExpr
    cast: Cast
    columns: int
    cells: tuple[Cell, ...] = ()

    @property
    def mark(self) -> str:
        return MARKS[self.cast.safety]


@dataclass(frozen=True)
class Known:
    """What was found out about one pair of catalogues with its rules, by a type's code and the instance judged."""

    mark: tuple[Any, ...]
    casts: dict[tuple[str, str], Cast] = field(default_factory=dict)
    cells: dict[tuple[str, str], tuple[Cell, ...]] = field(default_factory=dict)


_lock = Lock()
_known: OrderedDict[tuple[str, str], Known] = OrderedDict()


def known_for(planner: Planner, rules: Iterable[CastRule]) -> Known:
    """What is known of these very catalogues and rules: a catalogue that was edited is another object."""
    pair = planner.source.flavor, planner.target.flavor
    mark = (planner.source, planner.target, tuple((rule.pk, rule.row_version) for rule in rules))
    with _lock:
        found = _known.get(pair)
        if found is None or not _same(found.mark, mark):
            found = _known[pair] = Known(mark)
        _known.move_to_end(pair)
        while len(_known) > MOST_PAIRS:
            _known.popitem(last=False)
    return found


def _same(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    return first[0] is second[0] and first[1] is second[1] and first[2] == second[2]


@dataclass(frozen=True)
class Matrix:
    """The whole page's content; `missing` and `used` narrow the rows."""

    source: str
    target: str
    missing: bool = False
    used: bool = False
    rules: tuple[CastRule, ...] = ()
    planner: Planner = field(init=False)
    known: Known = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "planner", planner_for(self.source, self.target, rules=self.rules))
        object.__setattr__(self, "known", known_for(self.planner, self.rules))

    @classmethod
    def of(cls, source: str, target: str, *, missing: bool = False, used: bool = False) -> Matrix:
        rules = rules_between(source, target).select_related("source_data_type", "target_data_type")
        return cls(source, target, missing, used, tuple(rules))

    @cached_property
    def columns(self) -> list[TypeDef]:
        """The types of the target, without those that only DDL or users have."""
        return [each for each in self.planner.target if each.kind not in _NOT_FOR_COLUMNS]

    @cached_property
    def all_rows(self) -> list[Row]:
        usage = columns_by_type(self.source)
        rows = []
        for typedef in self.planner.source:
            spelled = usage.get(typedef.code, {})
            if typedef.kind == "pseudo" and not spelled:
                continue
            sample = self._sample(typedef, spelled)
            rows.append(Row(typedef, sample, self._cast(typedef, sample), sum(spelled.values())))
        return rows

    def _cast(self, typedef: TypeDef, sample: TypeExpr) -> Cast:
        key = (typedef.code, sample.rendered)
        if key not in self.known.casts:
            self.known.casts[key] = self.planner.cast(sample)
        return self.known.casts[key]

    @cached_property
    def rows(self) -> list[Row]:
        """The rows that are asked for, with their cells."""
        return [
            replace(row, cells=self._cells(row))
            for row in self.all_rows
            if (not self.used or row.columns) and (not self.missing or row.cast.safety == NONE)
        ]

    @property
    def considered(self) -> list[Row]:
        return [row for row in self.all_rows if row.columns] if self.used else self.all_rows

    @property
    def without(self) -> list[Row]:
        return [row for row in self.considered if row.cast.safety == NONE]

    def row(self, code: str) -> Row | None:
        return next((row for row in self.all_rows if row.typedef.code == code), None)

    def cast_to(self, row: Row, code: str) -> Cast:
        """What the row's instance becomes in one type of the target: by rule, as derived, or as fits best."""
        rule = self.rule(row.typedef.code, code)
        if rule is not None:
            alone = planner(self.planner.source, self.planner.target, [rule_of(rule)])
            found = alone.cast(row.sample)
            if found.rule is not None:
                return found
        if row.cast.target is not None and row.cast.target.code == code:
            return row.cast
        return self._forced(row, code)

    def rule(self, source: str, target: str) -> CastRule | None:
        return self._rules.get((source, target))

    @cached_property
    def _rules(self) -> Mapping[tuple[str, str], CastRule]:
        return {(rule.source_data_type.code, rule.target_data_type.code): rule for rule in self.rules}

    def _cells(self, row: Row) -> tuple[Cell, ...]:
        key = (row.typedef.code, row.sample.rendered)
        if key not in self.known.cells:
            self.known.cells[key] = tuple(self._judged(row))
        return self.known.cells[key]

    def _judged(self, row: Row) -> Iterable[Cell]:
        for typedef in self.columns:
            found = self.cast_to(row, typedef.code)
            chosen = row.cast.target is not None and row.cast.target.code == typedef.code
            yield Cell(typedef.code, found.safety, chosen, (row.typedef.code, typedef.code) in self._rules)

    def _forced(self, row: Row, code: str) -> Cast:
        typedef = self.planner.target.get(code)
        held = values_of(self.planner.source, row.sample)
        if typedef is None or held is None or typedef.slots:
            return Cast(row.sample, None, NONE, "There is no such conversion")
        params = params_for(typedef, held)
        if check_params(typedef, params, reported=True):
            first = typedef.examples[0].params if typedef.examples else {}
            params = {name: value for name, value in first.items() if name in typedef.takes}
        try:
            made = build(self.planner.target, code, params)
        except TypeSystemError as fault:
            return Cast(row.sample, None, NONE, str(fault))
        verdict = self.planner.judged(row.sample, made)
        return Cast(row.sample, made if verdict.safety != NONE else None, verdict.safety, verdict.why)

    def _sample(self, typedef: TypeDef, spelled: Mapping[str, int]) -> TypeExpr:
        """The instance that most columns have, else the richest example."""
        for text in sorted(spelled, key=lambda text: -spelled[text]):
            found = parse(self.planner.source, text)
            if found.code == typedef.code:
                return found
        plain = [each for each in typedef.examples if not each.since] or list(typedef.examples)
        example = max(plain, key=_telling, default=Example({}, typedef.name))
        return build(self.planner.source, typedef.code, example.params)


def _telling(example: Example) -> tuple[int, int]:
    """How much an example shows of what decides a cast: sizes do, other settings less."""
    sizes = sum(name in _SIZES for name in example.params)
    return sizes, -(len(example.params) - sizes)


def columns_by_type(flavor: str) -> dict[str, dict[str, int]]:
    """How many columns of current versions have each type, by code and spelling."""
    present = Dataset.objects.alive().filter(system__flavor__code=flavor, current_schema__isnull=False)
    rows = (
        FieldBinding.objects.filter(
            dataset_schema__in=present.exclude(status=Dataset.Status.RETIRED).values("current_schema"),
            type_instance__data_type__flavor__code=flavor,
        )
        .values_list("type_instance__data_type__code", "type_instance__rendered")
        .annotate(n=Count("pk"))
        .order_by()
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for code, rendered, count in rows:
        found[code][rendered] = count
    return found


def examples_of(matrix: Matrix, row: Row, code: str) -> list[Cast]:
    """Each example of the row's type, as the cell casts it."""
    found = []
    for example in row.typedef.examples[:6]:
        try:
            sample = build(matrix.planner.source, row.typedef.code, example.params)
        except TypeSystemError:
            continue
        found.append(matrix.cast_to(Row(row.typedef, sample, matrix.planner.cast(sample), 0), code))
    return found
