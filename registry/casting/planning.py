"""Plans the cast of one type: an explicit rule first, else derived from what values the type holds. Pure.

Safety is judged for the very instance, from the values (`registry.values`); a rule can only make it worse,
except where nothing is known about the pair, when the rule's word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from registry.casting import databases, lakes, messages, nesting
from registry.casting.fitting import Made, flavor_name
from registry.casting.generic import generic
from registry.casting.rules import Rule, applied, using
from registry.typesystem import Catalogue, TypeExpr, TypeSystemError, build, check_params
from registry.typesystem.parts import in_order
from registry.values import (
    LOSSLESS,
    LOSSY,
    NONE,
    Choice,
    Listed,
    Mapped,
    Named,
    Octets,
    Record,
    Text,
    Values,
    Verdict,
    judge,
    values_of,
)

_CANDIDATES: Mapping[str, Callable[[Values], Iterator[Made]]] = {
    "postgresql": databases.postgresql, "mysql": databases.mysql, "mariadb": databases.mysql,
    "sqlite": databases.sqlite, "oracle": databases.oracle, "sqlserver": databases.sqlserver, "hive": lakes.hive,
    "iceberg": lakes.iceberg, "parquet": lakes.parquet, "csv": lakes.csv,
}  # fmt: skip
_NAMED_CANDIDATES: Mapping[str, Callable[[Values, str], Iterator[Made]]] = {
    "kafka_avro": messages.avro, "kafka_json": messages.json_schema, "kafka_protobuf": messages.protobuf,
}  # fmt: skip
_KIN = ({"mysql", "mariadb"},)
_DEEPEST = 40
_UNUSUAL = {
    "inet": "network addresses",
    "text_search": "texts that are prepared for searching",
    "money": "amounts of money in a currency that stands elsewhere",
}


@dataclass(frozen=True)
class Cast:
    """What a type becomes; `target` is None when there is no cast. `rule` is the explicit one that was followed."""

    source: TypeExpr
    target: TypeExpr | None
    safety: str
    why: str
    rule: Rule | None = None
    using: str = ""


@dataclass(frozen=True)
class Planner:
    """Casts from one flavor to another, with the explicit rules between them."""

    source: Catalogue
    target: Catalogue
    rules: Iterable[Rule] = ()
    _by_source: dict[str, list[Rule]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for rule in sorted(self.rules, key=lambda rule: rule.rank):
            self._by_source.setdefault(rule.source, []).append(rule)

    def cast(self, expr: TypeExpr, *, name: str = "value", depth: int = 0) -> Cast:
        """The plan for one type; `name` is the column's, for flavors whose types have names."""
        if expr.code is None or depth > _DEEPEST:
            name = flavor_name(self.source.flavor)
            known = f"The catalogue of {name} does not know {expr.rendered or 'this type'}"
            return Cast(expr, None, NONE, known)
        held = values_of(self.source, expr)
        ruled, refused = self._ruled(expr, held, name, depth)
        if ruled is not None:
            return ruled
        if self.source.flavor == self.target.flavor:
            return Cast(expr, expr, LOSSLESS, "The type stays as it is")
        if held is None:
            return Cast(expr, None, NONE, f"{refused}What {expr.rendered} holds is not known")
        found = self._derived(expr, held, name, depth)
        return Cast(expr, found.target, found.safety, refused + found.why) if refused else found

    def judged(self, source: TypeExpr, target: TypeExpr) -> Verdict:
        """What becomes of the values of one type in another, whichever it is."""
        held, room = values_of(self.source, source), values_of(self.target, target, writing=True)
        if held is None or room is None:
            return Verdict(NONE, "What one of the types holds is not known")
        return judge(held, room)

    def _ruled(self, expr: TypeExpr, held: Values | None, name: str, depth: int) -> tuple[Cast | None, str]:
        """The safest cast that an explicit rule gives, or why none of the rules can be followed."""
        found: list[Cast] = []
        refused = ""
        rules = self._by_source.get(expr.code or "", ())
        parts = self._parts(expr, held, name, depth) if rules and held is not None else []
        for rule in rules:
            made = applied(rule, expr, self.target, parts)
            if isinstance(made, TypeExpr):
                found.append(self._by_rule(rule, expr, made, held, name))
            else:
                refused = refused or f"{made}. "
        best = min(found, key=lambda cast: Verdict(cast.safety, "").rank, default=None)
        return best, refused

    def _by_rule(self, rule: Rule, expr: TypeExpr, made: TypeExpr, held: Values | None, name: str) -> Cast:
        verdict = self.judged(expr, made) if held is not None else Verdict(NONE, "")
        if verdict.safety == NONE and isinstance(held, Text):
            room = values_of(self.target, made, writing=True)
            if room is not None and not isinstance(room, Octets):
                verdict = Verdict(LOSSY, f"Texts that are no {made.rendered} could not be kept")
        claimed = Verdict(rule.safety, f"By the rule from {rule.source} to {rule.target}")
        worse = verdict if verdict.safety != NONE and verdict.rank > claimed.rank else claimed
        return Cast(expr, made, worse.safety, worse.why, rule, using(rule, made, name))

    def _derived(self, expr: TypeExpr, held: Values, name: str, depth: int) -> Cast:
        best: Cast | None = None
        for made in self._made(expr, held, name, depth):
            verdict = self.judged(expr, made)
            found = Cast(expr, made, verdict.safety, verdict.why)
            if verdict.safety == LOSSLESS:
                return found
            if best is None or verdict.rank <= Verdict(best.safety, "").rank:
                best = found
        if best is None or best.safety == NONE:
            return Cast(expr, None, NONE, self._no_cast(held))
        return best

    def _no_cast(self, held: Values) -> str:
        flavor = flavor_name(self.target.flavor)
        if isinstance(held, Listed | Mapped | Record | Choice):
            return f"{flavor} has no type for what it is made of"
        what = _UNUSUAL.get(held.name, "these values") if isinstance(held, Named) else "these values"
        return f"{flavor} has no type for {what}; a rule of your own can say how to write them"

    def _made(self, expr: TypeExpr, held: Values, name: str, depth: int) -> Iterator[TypeExpr]:
        flavor = self.target.flavor
        if any({self.source.flavor, flavor} <= kin for kin in _KIN):
            yield from self._built([(expr.code or "", dict(expr.params))])
        if isinstance(held, Listed | Mapped | Record | Choice):
            yield from self._nested(expr, held, name, depth)
            return
        if flavor in _NAMED_CANDIDATES:
            yield from self._built(_NAMED_CANDIDATES[flavor](held, name))
        elif flavor in _CANDIDATES:
            yield from self._built(_CANDIDATES[flavor](held))
        else:
            yield from self._built(generic(self.target, held, self.source.get(expr.code)))

    def _built(self, candidates: Iterable[Made]) -> Iterator[TypeExpr]:
        for code, params in candidates:
            typedef = self.target.get(code)
            if typedef is None or check_params(typedef, params, reported=True):
                continue
            try:
                yield build(self.target, code, params)
            except TypeSystemError:
                continue

    def _nested(self, expr: TypeExpr, held: Values, name: str, depth: int) -> Iterator[TypeExpr]:
        parts = self._parts(expr, held, name, depth)
        made = None
        if isinstance(held, Choice) and len(held.present) == 1:
            if parts and parts[0][1] is not None:
                yield parts[0][1]
            return
        known = [(part, found) for part, found in parts if found is not None]
        if parts and len(known) == len(parts):
            made = self._compose(held, known, name)
        if made is not None and self.target.get(made[0]) is not None:
            yield build(self.target, *made)
            return
        style = nesting.STYLES.get(self.target.flavor)
        if parts and len(known) < len(parts) and style is not None and style.record:
            return
        fallback = nesting.JSON_TYPES.get(self.target.flavor)
        if fallback is not None:
            yield from self._built([fallback])
        else:
            yield from self._built(generic(self.target, Named("json"), None))

    def _compose(self, held: Values, parts: nesting.Parts, name: str) -> nesting.Nested | None:
        if isinstance(held, Listed):
            return nesting.list_of(self.target, parts)
        if isinstance(held, Mapped):
            return nesting.map_of(self.target, parts)
        if isinstance(held, Record):
            return nesting.record_of(self.target, parts, name)
        assert isinstance(held, Choice)
        has_null = len(held.present) < len(held.members)
        return nesting.choice_of(self.target, parts, name, has_null=has_null)

    def _parts(
        self, expr: TypeExpr, held: Values | None, name: str, depth: int
    ) -> list[tuple[str, TypeExpr | None]]:
        """What each part becomes; parts that the spelling does not tell are cast from their values alone."""
        listed = in_order(expr) if isinstance(held, Record | Choice) else []
        told = dict(listed)
        slots: list[tuple[str, Values, TypeExpr | None]] = []
        if isinstance(held, Listed):
            slots = [("element", held.element, _child(expr, "element", "items"))]
        elif isinstance(held, Mapped):
            slots = [
                ("key", held.key, _child(expr, "key")),
                ("value", held.value, _child(expr, "value", "values")),
            ]
        elif isinstance(held, Record):
            slots = [(field, part, told.get(field)) for field, part in held.fields]
        elif isinstance(held, Choice):
            named = (
                listed
                if len(listed) == len(held.members)
                else [(str(n), None) for n in range(len(held.members))]
            )
            slots = [
                (name, part, child)
                for (name, child), part in zip(named, held.members, strict=True)
                if part in held.present
            ]
        return [
            (slot, self._part(part, child, f"{name}_{slot}" if slot != "element" else name, depth))
            for slot, part, child in slots
        ]

    def _part(self, held: Values, expr: TypeExpr | None, name: str, depth: int) -> TypeExpr | None:
        if expr is not None:
            return self.cast(expr, name=name, depth=depth + 1).target
        unnamed = TypeExpr("", rendered="a part")
        best: tuple[int, TypeExpr] | None = None
        for made in self._made(unnamed, held, name, depth + 1):
            room = values_of(self.target, made, writing=True)
            rank = judge(held, room).rank if room is not None else 3
            if best is None or rank < best[0]:
                best = rank, made
        return best[1] if best is not None and best[0] < 3 else None


def _child(expr: TypeExpr, *names: str) -> TypeExpr | None:
    return next((expr.children[name] for name in names if name in expr.children), None)


def planner(source: Catalogue, target: Catalogue, rules: Iterable[Rule] = ()) -> Planner:
    return Planner(source, target, tuple(rules))


def plan_type(
    expr: TypeExpr, *, source: Catalogue, target: Catalogue, rules: Iterable[Rule] = (), name: str = "value"
) -> Cast:
    """What one type becomes in another flavor. Use a `Planner` for many."""
    return planner(source, target, rules).cast(expr, name=name)
