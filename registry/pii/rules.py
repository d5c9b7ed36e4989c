"""Rules and words as data: what a rule looks for, and the set of rules that a classification uses. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from registry.pii.kinds import WORDS as FAMILIES
from registry.pii.tokens import split

TABLES = (
    "person",
    "contact",
    "address",
    "email",
    "phone",
    "deal",
    "log",
    "health",
    "org",
    "place",
    "thing",
    "tech",
    "unknown",
)


class RuleInvalid(ValueError):  # noqa: N818 - named like the other refusals of data
    """A rule or a list of words is not written as it must be; the message says where."""


@dataclass(frozen=True)
class Rule:
    """What a name must hold to be suspected of a kind of personal data, and what speaks against it.

    `concepts` are alternatives: sets of concepts of the vocabulary that must all be in the name. `words` are
    alternatives, too: words as an admin writes them, found one after the other. `vetoes` are words and
    `unless` concepts that speak against it; `despite` names vetoes of all rules that do not count here.
    `types` are the families of types that it accepts (none named: every one but flags and times). A rule
    looks `only` into some kinds of tables, and `never` into others unless the name itself speaks of a person.
    `bare` means that the name must hold nothing else.
    """

    code: str
    tag: str
    title: str = ""
    version: str = "1"
    confidence: float = 0.8
    concepts: tuple[frozenset[str], ...] = ()
    words: tuple[str, ...] = ()
    vetoes: tuple[str, ...] = ()
    unless: frozenset[str] = frozenset()
    despite: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    bare: bool = False

    @cached_property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        return tuple(filter(None, (split(each) for each in self.words)))

    @cached_property
    def veto_phrases(self) -> tuple[tuple[str, ...], ...]:
        return tuple(filter(None, (split(each) for each in self.vetoes)))


@dataclass(frozen=True)
class Sense:
    """What a word, or several in a row, means in one language; a shy one means it only among its like.

    `in_tables` is what it means in the name of a table alone.
    """

    words: tuple[str, ...]
    language: str
    concept: str
    shy: bool = False
    in_tables: bool = False


@dataclass(frozen=True)
class Language:
    """The words of one language. `head` says which end of a compound names the thing: `first` or `last`."""

    code: str
    name: str
    head: str = "last"
    senses: tuple[Sense, ...] = ()
    stop: frozenset[str] = frozenset()
    glued: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RuleSet:
    """The rules and the vocabulary of one classification. Its version changes with what it finds."""

    base_version: str
    rules: tuple[Rule, ...]
    languages: tuple[Language, ...] = ()
    vetoes: Mapping[str, str] = field(default_factory=dict)

    def extended(self, rules: Iterable[Rule]) -> RuleSet:
        """With these rules, too; one of a code that is here already takes its place."""
        added = {rule.code: rule for rule in rules}
        kept = tuple(rule for rule in self.rules if rule.code not in added)
        return replace(self, rules=(*kept, *added.values()))

    def without(self, codes: Iterable[str]) -> RuleSet:
        """Without the rules of these codes; unknown codes are no fault."""
        off = frozenset(codes)
        return replace(self, rules=tuple(rule for rule in self.rules if rule.code not in off))

    @cached_property
    def version(self) -> str:
        """The version of the words and rules that it was made from, and a mark of what it holds now."""
        text = "\n".join(sorted(repr(_plain(rule)) for rule in self.rules))
        return f"{self.base_version}+{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def rule(self, code: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.code == code), None)

    def __hash__(self) -> int:
        return hash((self.base_version, self.rules))


def _plain(rule: Rule) -> list[Any]:
    values = (getattr(rule, name) for name in Rule.__dataclass_fields__)
    return [
        sorted(each) if isinstance(each, frozenset) else
        [sorted(one) if isinstance(one, frozenset) else one for one in each] if isinstance(each, tuple) else each
        for each in values
    ]  # fmt: skip


_RULE_KEYS = frozenset(Rule.__dataclass_fields__) | {"any"}


def read_rules(document: Any) -> tuple[str, tuple[Rule, ...], dict[str, str]]:
    """A version, rules and the vetoes of all rules, from a parsed rules document. Raises `RuleInvalid`."""
    if not isinstance(document, Mapping) or not isinstance(document.get("rules"), list):
        raise RuleInvalid("A rules document holds a version, vetoes and a list of rules.")
    rules = tuple(read_rule(each) for each in document["rules"])
    codes = [rule.code for rule in rules]
    for code in codes:
        if codes.count(code) > 1:
            raise RuleInvalid(f"{code}: the code is used twice.")
    return str(document.get("version", "1")), rules, dict(document.get("vetoes") or {})


def read_rule(data: Any) -> Rule:
    """One rule as YAML or JSON writes it. Raises `RuleInvalid`."""
    if not isinstance(data, Mapping) or not data.get("code") or not data.get("tag"):
        raise RuleInvalid("A rule needs a code and a tag.")
    code = str(data["code"])
    if unknown := sorted(set(data) - _RULE_KEYS):
        raise RuleInvalid(f"{code}: unknown key {unknown[0]}.")
    confidence = data.get("confidence", 0.8)
    if not isinstance(confidence, int | float) or not 0 < confidence <= 1:
        raise RuleInvalid(f"{code}: confidence is a number above 0, at most 1.")
    for key, known in (("types", FAMILIES), ("only", TABLES), ("never", TABLES)):
        if strange := [each for each in _texts(data, key) if each not in known]:
            raise RuleInvalid(f"{code}: {key} does not know {strange[0]}.")
    concepts = tuple(frozenset(str(each).split()) for each in _texts(data, "any"))
    words = tuple(_texts(data, "words"))
    if not concepts and not words:
        raise RuleInvalid(f"{code}: it looks for nothing; give it words.")
    return Rule(
        code=code,
        tag=str(data["tag"]),
        title=str(data.get("title", "")),
        version=str(data.get("version", "1")),
        confidence=float(confidence),
        concepts=concepts,
        words=words,
        vetoes=tuple(_texts(data, "vetoes")),
        unless=frozenset(_texts(data, "unless")),
        despite=frozenset(_texts(data, "despite")),
        types=frozenset(_texts(data, "types")),
        only=frozenset(_texts(data, "only")),
        never=frozenset(_texts(data, "never")),
        bare=bool(data.get("bare", False)),
    )


def _texts(data: Mapping[str, Any], key: str) -> list[str]:
    value = data.get(key) or []
    if isinstance(value, str):
        value = value.split(",") if key in {"any", "words", "vetoes"} else value.split()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RuleInvalid(f"{data.get('code')}: {key} is a list of words.")
    return [each.strip() for each in value if each.strip()]


def read_language(document: Any) -> Language:
    """The words of a language: `words: {concept: "word, two words, shy?, glued+"}`, and `tables` alike for
    what words mean in names of tables alone. Raises `RuleInvalid`.
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("words"), Mapping):
        raise RuleInvalid("A list of words holds a language and its words by concept.")
    code = str(document["language"])
    senses: list[Sense] = []
    glued: set[str] = set()
    for section in ("words", "tables"):
        for concept, listed in (document.get(section) or {}).items():
            if not isinstance(listed, str):
                raise RuleInvalid(f"{code}: {concept} is a text of words, with commas between them.")
            for entry in filter(None, (each.strip() for each in listed.split(","))):
                plain = entry.rstrip("?+")
                marks = entry[len(plain) :]
                words = split(plain.replace("'", " "))
                if not words:
                    raise RuleInvalid(f"{code}: {concept} holds {entry!r}, which is no word.")
                if "+" in marks:
                    glued.update(words)
                senses.append(Sense(words, code, str(concept), "?" in marks, section == "tables"))
    return Language(
        code=code,
        name=str(document.get("name", code)),
        head=str(document.get("head", "last")),
        senses=tuple(senses),
        stop=frozenset(str(document.get("stop", "")).split()),
        glued=frozenset(glued),
    )
