"""Which gone dataset and which new one are the same, renamed or moved. In doubt they stay a drop and an add."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crawling.diff.renames import Evidence
from crawling.diff.similarity import likeness
from registry.documents.content import base_of, expression_of
from registry.documents.expressions import normal_expression
from registry.typesystem import Catalogue

ENOUGH = 5
WORTH_A_MENTION = 3
LEAST_ALIKE = 0.6
LESS_ALIKE = 0.3
"""Enough of the columns where the name speaks for the pair, too."""
COMMON = 50
_DIGITS = re.compile(r"\d+")
_OF_ITS_OWN = frozenset({"same_name", "same_key_names", "same_native_positions"})

Document = Mapping[str, Any]


@dataclass(frozen=True)
class DatasetRenames:
    """Sure pairs (old name → new name) with evidence, and per gone or new name the partners it might have."""

    sure: Mapping[str, tuple[str, Evidence]]
    possible: Mapping[str, Evidence]


def find_dataset_renames(
    gone: Mapping[str, Document],
    new: Mapping[str, Document],
    *,
    catalogue: Catalogue | None,
    staying: Iterable[Document] = (),
) -> DatasetRenames:
    """Pairs of gone and new. A shape that `staying` datasets have, too, says less."""
    if not gone or not new:
        return DatasetRenames({}, {})
    scored = _among_others(_scored(gone, new, catalogue), gone, staying)
    best: dict[tuple[int, str], list[int]] = defaultdict(list)
    for score, old, name, _ in scored:
        best[0, old].append(score)
        best[1, name].append(score)
    sure: dict[str, tuple[str, Evidence]] = {}
    possible: dict[str, Evidence] = {}
    for score, old, name, evidence in scored:
        if score >= ENOUGH and _leads(score, best[0, old]) and _leads(score, best[1, name]):
            sure[old] = (name, evidence)
    taken = {name for name, _ in sure.values()}
    for _, old, name, _ in scored:
        if old in sure or name in taken:
            continue
        for here, partner in ((old, name), (name, old)):
            mention = {
                "code": "possible_rename",
                "text": f"may be a rename of {old} to {name}",
                "partner": partner,
            }
            possible[here] = (*possible.get(here, ()), mention)
    return DatasetRenames(sure, possible)


def partition_mentions(gone: Mapping[str, Document], after: Mapping[str, Document]) -> Mapping[str, Evidence]:
    """For gone tables with the columns of a partitioned one: attached to it, a table is told as a part of it."""
    if not gone:
        return {}
    wholes: dict[frozenset[Any], str] = {}
    for name, document in after.items():
        if document.get("kind") == "partitioned_table":
            wholes.setdefault(_shape(document), name)
    return {
        name: (
            {
                "code": "may_be_partition",
                "text": f"has the columns of {whole}, and may be a partition of it now",
                "partner": whole,
            },
        )
        for name, document in gone.items()
        if document.get("kind") == "table" and (whole := wholes.get(_shape(document))) is not None
    }


def _among_others(
    scored: list[tuple[int, str, str, Evidence]], gone: Mapping[str, Document], staying: Iterable[Document]
) -> list[tuple[int, str, str, Evidence]]:
    """Rated by what else there is: one point more for ends without another candidate and a shape of their own.

    A shape that staying datasets have, too, as tables of a year each do, is a mention unless the ends share what no
    sister does: their name, their keys' names, or gaps in the column numbers.
    """
    olds, news = Counter(old for _, old, _, _ in scored), Counter(name for _, _, name, _ in scored)
    shapes = {old: _shape(gone[old]) for _, old, _, _ in scored}
    sizes = {len(shape) for shape in shapes.values()}
    common = {_shape(each) for each in staying if len(each.get("fields") or ()) in sizes} if sizes else set()
    said = {"code": "only_pair", "text": "no other dataset looks like it"}
    out = []
    for score, old, name, evidence in scored:
        if shapes[old] in common:
            if not {entry["code"] for entry in evidence} & _OF_ITS_OWN:
                score = min(score, WORTH_A_MENTION)
        elif olds[old] == news[name] == 1:
            score, evidence = score + 1, (*evidence, said)
        out.append((score, old, name, evidence))
    return out


def _shape(document: Document) -> frozenset[Any]:
    return frozenset((field["name"], field.get("native_type")) for field in document.get("fields") or ())


def _leads(score: int, scores: list[int]) -> bool:
    return sum(1 for each in scores if each > score - 2) == 1


def _scored(
    gone: Mapping[str, Document], new: Mapping[str, Document], catalogue: Catalogue | None
) -> list[tuple[int, str, str, Evidence]]:
    """Pairs of the same kind that share most of their fields, with what speaks for each."""
    marks = {name: _marks(document, catalogue) for name, document in new.items()}
    holders: dict[Any, list[str]] = defaultdict(list)
    for name, mine in marks.items():
        for mark in mine:
            holders[mark].append(name)
    pairs = []
    for old, document in gone.items():
        mine = _marks(document, catalogue)
        shared: Counter[str] = Counter()
        for mark in mine:
            if len(holders.get(mark, ())) <= COMMON:
                shared.update(holders.get(mark, ()))
        for name in _same_table(document, new):
            shared.setdefault(name, 0)
        for name in shared:
            if (document.get("kind") or "table") != (new[name].get("kind") or "table"):
                continue
            alike = len(mine & marks[name]) / max(len(mine | marks[name]), 1)
            if alike >= LEAST_ALIKE or (alike >= LESS_ALIKE and _is_named_alike(document, new[name])):
                score, evidence = _score(document, new[name], alike, len(mine))
                if _is_split(mine - marks[name], name, holders):
                    score = min(score, WORTH_A_MENTION)
                if score >= WORTH_A_MENTION:
                    pairs.append((score, old, name, evidence))
    return pairs


def _is_split(missing: frozenset[Any], name: str, holders: Mapping[Any, list[str]]) -> bool:
    """Whether what a new dataset lacks of the gone one is all in another new one: then the one became two."""
    if len(missing) < 2:
        return False
    others = [set(holders.get(mark, ())) - {name} for mark in missing]
    return bool(set.intersection(*others))


def _same_table(document: Document, new: Mapping[str, Document]) -> list[str]:
    return [name for name, other in new.items() if other.get("name") == document.get("name")]


def _marks(document: Document, catalogue: Catalogue | None) -> frozenset[Any]:
    """Each field's name and type, in a form that can be counted."""
    return frozenset((field["name"], *_type_mark(field, catalogue)) for field in document.get("fields") or ())


def _type_mark(field: Document, catalogue: Catalogue | None) -> tuple[str, str]:
    """A field's type. That of a user goes without its schema, which may be renamed together with the table's."""
    native = field.get("native_type") or ""
    if field.get("type_schema") not in (None, "", "pg_catalog"):
        return str(field.get("type_kind")), normal_expression(native.rpartition(".")[2])
    return repr(base_of(expression_of(field, catalogue=catalogue), field)), normal_expression(native)


def _score(gone: Document, new: Document, alike: float, size: int) -> tuple[int, Evidence]:
    said: list[dict[str, str]] = []

    def say(code: str, text: str, points: int) -> int:
        said.append({"code": code, "text": text})
        return points

    if alike == 1:
        score = say("same_fields", f"all {size} columns have the same names and types", 3)
    else:
        score = say(
            "similar_fields",
            f"{alike:.0%} of the columns have the same names and types",
            2 if alike >= 0.8 else 1,
        )
    score += 2 if size >= 8 else 1 if size >= 4 else 0
    names = _names_alike(gone, new)
    if gone.get("name") == new.get("name"):
        score += say("same_name", f"same name in {new.get('schema')}", 3)
    elif names >= 0.6:
        score += say("similar_name", "similar name", 3 if names == 1 else 2)
    score += _by_comment(gone, new, say)
    score += _by_key_names(gone, new, say)
    numbers = [[f.get("native_position") for f in d.get("fields") or ()] for d in (gone, new)]
    if (
        numbers[0] == numbers[1]
        and None not in numbers[0]
        and numbers[0] != list(range(1, len(numbers[0]) + 1))
    ):
        score += say("same_native_positions", "same gaps in the server's column numbers", 3)
    said.append({"code": "gone_and_new", "text": "gone and new in the same crawl"})
    return score, tuple(said)


def _names_alike(gone: Document, new: Document) -> float:
    """From 0 to 1; names that differ in their numbers only are of a series, which says nothing."""
    one, other = str(gone.get("name")), str(new.get("name"))
    if one != other and _DIGITS.sub("", one) == _DIGITS.sub("", other) and _DIGITS.search(one):
        return 0.0
    return likeness(one, other)


def _is_named_alike(gone: Document, new: Document) -> bool:
    keys = _key_names(gone)
    return _names_alike(gone, new) >= 0.6 or bool(keys and keys == _key_names(new))


def _by_comment(gone: Document, new: Document, say: Any) -> int:
    one, other = gone.get("comment") or None, new.get("comment") or None
    if one and one == other:
        return int(say("same_comment", "same comment", 2))
    return -1 if one and other else 0


def _by_key_names(gone: Document, new: Document, say: Any) -> int:
    """Some servers keep the names of a table's keys when it is renamed."""
    one, other = _key_names(gone), _key_names(new)
    if one and one == other:
        return int(say("same_key_names", "its keys kept their names", 4))
    return 0


def _key_names(document: Document) -> frozenset[str]:
    keys = [
        document.get("primary_key"),
        *(document.get("unique") or ()),
        *(document.get("foreign_keys") or ()),
    ]
    return frozenset(key["name"] for key in keys if key and key.get("name") and key["name"] != "PRIMARY")
