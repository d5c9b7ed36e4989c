"""What a table is about: people, companies, things, machines …, from its name and its columns. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from registry.pii.vocabulary import Favoured, Reading, Vocabulary, base

UNKNOWN = "unknown"
WORDS = {
    "person": "people",
    "contact": "contacts",
    "address": "addresses",
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "deal": "orders or other dealings",
    "log": "what somebody did",
    "health": "health",
    "org": "companies or organisations",
    "place": "places",
    "thing": "things",
    "tech": "machines or software",
}
_QUOTES = str.maketrans("", "", '"`[]')
_KINDS = (
    "deal",
    "log",
    "health",
    "person",
    "tech",
    "org",
    "place",
    "thing",
    "contact",
    "email",
    "phone",
    "address",
)
_MORE = {
    "street": "address",
    "postcode": "address",
    "home": "address",
    "relative": "person",
    "personno": "person",
    "personcard": "person",
    "personname": "person",
    "login": "person",
    "nick": "person",
    "family": "person",
    "city": "place",
    "country": "place",
    "region": "place",
    "district": "place",
    "setting": "thing",
    "kind": "thing",
    "status": "thing",
    "bank": "org",
    "secret": "log",
    "token": "log",
    "key": "log",
}  # fmt: skip
_TRANSPARENT = frozenset({"transparent", "plain", "name", "bio", "identifier", "image", "avatar", "govid"})
_OF_WHAT = frozenset({"org", "place", "tech", "thing", "email", "phone"})  # addresses, contacts of these
_OF_PEOPLE = frozenset({"given", "family", "maiden"})
_ABOUT_PEOPLE = frozenset(
    {
        "birthdate",
        "birth",
        "gender",
        "marital",
        "nationality",
        "govid",
        "birthplace",
        "salary",
        "login",
        "avatar",
    }
)
_NO_FACTS = frozenset({"flag", "done", "count", "setting", "measure", "kind"})
_CLIENTS = frozenset({"client", "clients"})  # people, or programs that log in
_SECRETS = frozenset({"secret", "privatekey"})
_SEVERAL, _MOST = 4, 0.6
_PATIENTS = frozenset({"person", "health", "visit"})
_LOOSE = frozenset(
    {"observation", "observations", "measurement", "measurements", "obs", "condition", "conditions"}
)


@dataclass(frozen=True)
class Table:
    """A table, as far as its columns are concerned: a kind of `WORDS` or unknown, and its languages.

    `names_people` says that it has columns for parts of a person's name. `silent` are words that say nothing in
    the names of its columns: its own, and what most of them begin or end with.
    """

    name: str
    kind: str
    favoured: Favoured = ()
    by_columns: bool = False
    names_people: bool = False
    silent: frozenset[str] = frozenset()


def bare_name(table: str) -> str:
    """The last part of a qualified name, without quotes."""
    parts = table.translate(_QUOTES).split(".")
    return next((part for part in reversed(parts) if part.strip()), "")


def describe(vocabulary: Vocabulary, table: str, columns: list[str], *, told: str = "") -> Table:
    """What is known of a table from its name and the names of its columns."""
    name = bare_name(table)
    favoured = vocabulary.favoured(((name, 2.0), *((column, 1.0) for column in columns)), told=told)
    reading = vocabulary.read(name, table=True, favoured=favoured)
    head_first = bool(favoured) and vocabulary.languages[favoured[0]].head == "first"
    kind = _kind_of(reading, head_first=head_first)
    concepts = [vocabulary.read(column, favoured=favoured).concepts for column in columns]
    names = any(each & _OF_PEOPLE and not each & {"thing", "tech", "setting"} for each in concepts)
    facts = sum(bool(each & _ABOUT_PEOPLE) and not each & _NO_FACTS for each in concepts)
    known = any("govid" in each and not each & _NO_FACTS for each in concepts)
    about = names or known or facts >= 2
    if kind == "health" and set(reading.tokens) <= _LOOSE and not any(each & _PATIENTS for each in concepts):
        kind = UNKNOWN
    if (
        kind == "person"
        and not about
        and set(reading.tokens) <= _CLIENTS
        and any(each & _SECRETS for each in concepts)
    ):
        kind = "tech"
    by_columns = (
        about and kind in {UNKNOWN, "contact"} and not any({"org", "name"} <= each for each in concepts)
    )
    silent = frozenset(base(token) for token in reading.tokens) | _affixes(
        [vocabulary.tokens(column) for column in columns]
    )
    return Table(name, "person" if by_columns else kind, favoured, by_columns, names, silent)


def _affixes(names: list[tuple[str, ...]]) -> frozenset[str]:
    """The words that most of the names begin or end with."""
    if len(names) < _SEVERAL:
        return frozenset()
    found = set()
    for at in (0, -1):
        for word, times in Counter(each[at] for each in names if len(each) > 1).most_common(1):
            if times >= _MOST * len(names):
                found.add(base(word))
    return frozenset(found)


def _kind_of(reading: Reading, *, head_first: bool) -> str:
    kinds: list[str | None] = []
    for part in reading.parts:
        kind = _part_kind(part.concepts)
        if kind == "":
            continue
        if kind is None and (part.words[0].isdigit() or len(part.words[0]) <= 2):
            continue
        kinds.append(kind)
    if not head_first:
        kinds.reverse()
    if not kinds:
        return UNKNOWN
    first = kinds[0]
    if first is None and head_first and len(kinds) > 1:
        return kinds[1] or UNKNOWN  # a prefix of the system's, in front of the thing
    if (
        first in {"address", "contact"}
        and len(kinds) > 1
        and kinds[1] in {"org", "place", "tech", "thing", "email", "phone"}
    ):
        return str(kinds[1])
    return first or UNKNOWN


def _part_kind(concepts: frozenset[str]) -> str | None:
    """The kind of table that a word speaks of; empty for one to look through, None for one that says nothing."""
    for kind in _KINDS:
        if kind in concepts:
            return kind
    for concept in concepts:
        if concept in _MORE:
            return _MORE[concept]
    return "" if concepts & _TRANSPARENT else None
