"""Which gone field and which new one are the same, renamed. In doubt they stay a drop and an add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crawling.diff.similarity import likeness, words
from crawling.diff.values import type_value
from registry.compatibility.risk import widens
from registry.documents import field_path, split_path
from registry.documents.content import type_content
from registry.typesystem import Catalogue

ENOUGH = 4
WORTH_A_MENTION = 3
MOST_PAIRS = 40_000
OWN_PLACE = 4

Field = Mapping[str, Any]
Evidence = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class FieldRename:
    """A field's old path (after its parents' renames), its old and new name, and why we think so."""

    path: str
    old: str
    new: str
    evidence: Evidence

    @property
    def new_path(self) -> str:

        return field_path((*split_path(self.path)[:-1], self.new))


@dataclass(frozen=True)
class Renames:
    """What was found: sure pairs, and per path of a gone or new field the partners that it might have."""

    sure: tuple[FieldRename, ...]
    possible: Mapping[str, Evidence]


def find_renames(
    before: Mapping[str, Any], after: Mapping[str, Any], *, catalogue: Catalogue | None
) -> Renames:
    """Renames at every level, parents first."""
    if _same_names(before.get("fields") or (), after.get("fields") or ()):
        return Renames((), {})
    sure: list[FieldRename] = []
    possible: dict[str, Evidence] = {}
    keys = (_key_places(before), _key_places(after))
    _level(before.get("fields") or (), after.get("fields") or (), (), keys, catalogue, sure, possible)
    return Renames(tuple(sure), possible)


def _same_names(before: Sequence[Field], after: Sequence[Field]) -> bool:
    """Whether nothing at any level is gone or new, in this order; a cheap no for most datasets."""
    return len(before) == len(after) and all(
        was["name"] == now["name"]
        and (
            not (was.get("fields") or now.get("fields"))
            or _same_names(was.get("fields") or (), now.get("fields") or ())
        )
        for was, now in zip(before, after, strict=True)
    )


def given_renames(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    pairs: Mapping[str, str],
    catalogue: Catalogue | None,
) -> Renames:
    """Renames as a person paired them (old path → new name), with what speaks for each."""
    found = find_renames(before, after, catalogue=catalogue)
    known = {(rename.path, rename.new): rename.evidence for rename in found.sure}
    by_hand: Evidence = ({"code": "by_hand", "text": "paired by a person"},)
    sure = []
    for path, new in sorted(pairs.items(), key=lambda pair: pair[0].count(".")):
        sure.append(FieldRename(path, split_path(path)[-1], new, known.get((path, new), by_hand)))
    return Renames(tuple(sure), {})


def _level(
    before: Sequence[Field],
    after: Sequence[Field],
    parents: tuple[str, ...],
    keys: tuple[Mapping[str, Any], Mapping[str, Any]],
    catalogue: Catalogue | None,
    sure: list[FieldRename],
    possible: dict[str, Evidence],
) -> None:
    old = {field["name"]: field for field in before}
    new = {field["name"]: field for field in after}
    gone = [field for field in before if field["name"] not in new]
    come = [field for field in after if field["name"] not in old]
    matched = [(old[name], field) for name, field in new.items() if name in old]
    if gone and come and len(gone) * len(come) <= MOST_PAIRS:
        level = _Level(before, after, keys if not parents else ({}, {}), catalogue)
        for was, now, evidence, is_sure in level.pairs(gone, come):
            if is_sure:
                sure.append(
                    FieldRename(field_path((*parents, was["name"])), was["name"], now["name"], evidence)
                )
                matched.append((was, now))
            else:
                for field, partner in ((was, now), (now, was)):
                    path = field_path((*parents, field["name"]))
                    mention = {
                        "code": "possible_rename",
                        "text": f"may be a rename of {was['name']} to {now['name']}",
                        "partner": field_path((*parents, partner["name"])),
                    }
                    possible[path] = (*possible.get(path, ()), mention)
    for was, now in matched:
        if was.get("fields") and now.get("fields"):
            _level(was["fields"], now["fields"], (*parents, now["name"]), keys, catalogue, sure, possible)


class _Level:
    """The fields of one level on both sides, and how much speaks for a pair."""

    def __init__(
        self,
        before: Sequence[Field],
        after: Sequence[Field],
        keys: tuple[Mapping[str, Any], Mapping[str, Any]],
        catalogue: Catalogue | None,
    ) -> None:
        self.catalogue = catalogue
        self.keys = keys
        old = {field["name"]: field for field in before}
        stay = [field for field in after if field["name"] in old]
        self.places = (_places(before, {f["name"] for f in stay}), _places(after, set(old)))
        numbered = [(old[f["name"]].get("native_position"), f.get("native_position")) for f in stay]
        self.recreated = any(was != now for was, now in numbered if was is not None and now is not None)
        natives: list[Any] = [f.get("native_position") for f in before]
        self.has_numbers = None not in natives and all(f.get("native_position") is not None for f in after)
        self.comments = Counter(f.get("comment") for f in (*before, *after))
        self.has_gap = self.has_numbers and sorted(natives) != list(range(1, len(natives) + 1))

    def pairs(
        self, gone: Sequence[Field], come: Sequence[Field]
    ) -> list[tuple[Field, Field, Evidence, bool]]:
        """Pairs worth naming, each with evidence and whether it is beyond doubt."""
        alone = len(gone) == len(come) == 1
        scored = [
            (score, was, now, evidence)
            for was in gone
            for now in come
            for score, evidence in [self.score(was, now, alone=alone)]
            if score >= WORTH_A_MENTION
        ]
        out = []
        for score, was, now, evidence in scored:
            rival = max(
                (s for s, w, n, _ in scored if (w is was) != (n is now)),
                default=0,
            )
            if score >= ENOUGH and score >= rival + 2:
                out.append((was, now, evidence, True))
            elif rival < 100:
                out.append((was, now, evidence, False))
        return out

    def score(self, was: Field, now: Field, *, alone: bool) -> tuple[int, Evidence]:
        same_type = self._same_type(was, now)
        alike = likeness(was["name"], now["name"])
        said = [{"code": "gone_and_new", "text": "gone and new in the same crawl"}]
        if same_type:
            said.insert(0, {"code": "same_type", "text": f"same type {now.get('native_type')}"})
        score = self._by_number(was, now, same_type=same_type, alike=alike, said=said)
        if score is not None:
            return score, tuple(said)
        if not same_type and not (alike >= 0.8 and _fits(was, now, self.catalogue)):
            return 0, ()
        score = 0 if same_type else -1
        place = self._place(was, now)
        score += place
        if place:
            said.append({"code": "same_place", "text": f"same place, {_ordinal(now.get('position'))}"})
        score += 3 if alike >= 0.8 else 2 if alike >= 0.6 else 1 if alike >= 0.45 else 0
        if alike >= 0.6:
            said.append({"code": "similar_name", "text": "similar name"})
        if place > 1 and _holds(was["name"], now["name"]):
            score += 1
        comment = self._by_comment(was, now, said, is_sure=alike >= 0.8 or place == OWN_PLACE)
        score += comment + self._by_key(was, now, said) + self._by_rest(was, now)
        if alone and place > 1:
            score += 1
            said.append({"code": "only_pair", "text": "the only field gone and the only one new"})
        if not place and alike < 0.8 and not (comment > 0 and alike >= 0.6):
            score = min(score, WORTH_A_MENTION)
        return score, tuple(said)

    def _by_number(
        self, was: Field, now: Field, *, same_type: bool, alike: float, said: list[dict[str, str]]
    ) -> int | None:
        """The server's own column numbers decide, as long as the table was not created again."""
        if not self.has_numbers or self.recreated:
            return None
        if was.get("native_position") != now.get("native_position"):
            return 0
        said.insert(
            0,
            {
                "code": "same_native_position",
                "text": f"same column number {now['native_position']} at the server",
            },
        )
        same_comment = bool(was.get("comment")) and was.get("comment") == now.get("comment")
        if same_type or self.has_gap or alike >= 0.6 or same_comment or _fits(was, now, self.catalogue):
            return 100
        return WORTH_A_MENTION

    def _same_type(self, was: Field, now: Field) -> bool:
        if type_value(was) == type_value(now):
            return True
        return type_content(was, catalogue=self.catalogue) == type_content(now, catalogue=self.catalogue)

    def _place(self, was: Field, now: Field) -> int:
        """A renamed field stays between its neighbours; at the end, where new fields go, that says less.

        Most where nothing else is gone or new between the two.
        """
        here, there = self.places[0][was["name"]], self.places[1][now["name"]]
        if here[:2] != there[:2]:
            return 0
        if here[1] is None:
            return 1
        if here != there:
            return 2
        between = [sum(1 for each in places.values() if each[:2] == here[:2]) for places in self.places]
        return OWN_PLACE if between == [1, 1] else 3

    def _by_comment(self, was: Field, now: Field, said: list[dict[str, str]], *, is_sure: bool) -> int:
        one, other = was.get("comment") or None, now.get("comment") or None
        if one == other:
            if one is None:
                return 0
            said.append({"code": "same_comment", "text": "same comment"})
            return 1 if self.comments[one] > 2 else 3
        return -2 if one and other and not is_sure else -1

    def _by_key(self, was: Field, now: Field, said: list[dict[str, str]]) -> int:
        here, there = self.keys[0].get(was["name"]), self.keys[1].get(now["name"])
        if here == there:
            if here is None:
                return 0
            said.append({"code": "same_keys", "text": "same place in the same keys"})
            return 2
        return -2

    def _by_rest(self, was: Field, now: Field) -> int:
        score = 0
        if was.get("default") != now.get("default"):
            score -= 1
        elif was.get("default") not in (None, "NULL"):
            score += 1
        if bool(was.get("nullable", True)) != bool(now.get("nullable", True)):
            score -= 1
        if bool(was.get("generated")) != bool(now.get("generated")):
            score -= 3
        return score


def _holds(one: str, other: str) -> bool:
    """Whether one name is the other with words before or behind it."""
    short, long = sorted((words(one), words(other)), key=len)
    return len(short) < len(long) and short in (long[: len(short)], long[-len(short) :])


def _fits(was: Field, now: Field, catalogue: Catalogue | None) -> bool:
    return widens(type_value(was), type_value(now), catalogue=catalogue)


def _places(fields: Sequence[Field], staying: set[str]) -> dict[str, tuple[str | None, str | None, int]]:
    """Each field's nearest staying neighbours, and its turn among those between the same two."""
    out: dict[str, tuple[str | None, str | None, int]] = {}
    previous: str | None = None
    run: list[str] = []
    for field in (*fields, None):
        name = field["name"] if field else None
        if field is None or name in staying:
            for turn, each in enumerate(run):
                out[each] = (previous, name, turn)
            previous, run = name, []
        else:
            run.append(field["name"])
    return out


def _key_places(document: Mapping[str, Any]) -> dict[str, Any]:
    """Which keys a column is in, and where, by column name."""
    places: dict[str, list[Any]] = {}
    key = document.get("primary_key")
    for n, name in enumerate(key["columns"] if key else ()):
        places.setdefault(name, []).append(("primary_key", n))
    for unique in document.get("unique") or ():
        for n, name in enumerate(unique["columns"]):
            places.setdefault(name, []).append(("unique", len(unique["columns"]), n))
    for foreign in document.get("foreign_keys") or ():
        for n, name in enumerate(foreign["columns"]):
            places.setdefault(name, []).append(
                ("foreign_key", foreign.get("ref_table"), tuple(foreign.get("ref_columns") or ()), n)
            )
    return {name: sorted(entries, key=repr) for name, entries in places.items()}


def _ordinal(number: Any) -> str:
    if not isinstance(number, int):
        return "unknown"
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
