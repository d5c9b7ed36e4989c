"""Words to concepts: every language's words in one index, and how a name is read with it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from registry.pii.rules import Language, Sense
from registry.pii.tokens import fold, split, unglue

Favoured = tuple[str, ...]
_KEPT = 100_000  # readings, so that a server does not grow with what it is asked
_SHORT = 4  # letters
_KNOWN_EVERYWHERE = frozenset(
    {"govid", "taxid", "bankaccount", "iban", "bic", "phone", "email", "postcode", "personno"}
)
_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("n", ""), ("en", ""))
_COUNTING = frozenset({"number", "no", "num", "nr", "nb", "nbr", "amount"})  # followed by "of": how many
_NUMBERS = dict.fromkeys(
    (
        "no",
        "num",
        "nr",
        "nbr",
        "nro",
        "numero",
        "nummer",
        "numer",
        "nomor",
        "numar",
        "broj",
        "cislo",
        "nomer",
    ),
    "number",
)  # in names of several words they are the same
_ENOUGH = 0.9  # of a language's own words, so that its shy words count


@dataclass(frozen=True)
class Part:
    """One or several words of a name, and what they mean; no concepts for words that say nothing here."""

    words: tuple[str, ...]
    concepts: frozenset[str]
    languages: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class Reading:
    """A name as the vocabulary reads it."""

    tokens: tuple[str, ...]
    parts: tuple[Part, ...]
    concepts: frozenset[str]

    @cached_property
    def unknown(self) -> int:
        """How many of its words mean nothing here."""
        return sum(not part.concepts and not part.words[0].isdigit() for part in self.parts)

    def words_for(self, concepts: Iterable[str]) -> list[str]:
        """The words that stand for any of these concepts, in their order."""
        wanted = frozenset(concepts)
        return [part.text for part in self.parts if part.concepts & wanted]


def _is_doubtful(sense: Sense, senses: tuple[Sense, ...]) -> bool:
    """Whether a word of a language that nothing else speaks for is too short to be trusted."""
    if len(sense.words) > 1 or len(sense.words[0]) > _SHORT or sense.concept in _KNOWN_EVERYWHERE:
        return False
    return len({each.language for each in senses}) == 1


def base(word: str) -> str:
    """A word without the s of its plural."""
    return word[:-1] if len(word) > 4 and word.endswith("s") else word


class Vocabulary:
    """The words of all languages."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self.languages = {language.code: language for language in languages}
        self.order = {code: rank for rank, code in enumerate(self.languages)}
        if "en" in self.order:
            self.order["en"] = -1
        self._stop = frozenset(word for each in self.languages.values() for word in each.stop)
        self._glued = frozenset(word for each in self.languages.values() for word in each.glued)
        words_of_all = {
            word for each in self.languages.values() for sense in each.senses for word in sense.words
        }
        self._pieces = frozenset(words_of_all)
        self._beginnings = frozenset(word[:size] for word in words_of_all for size in range(1, len(word) + 1))
        index: dict[tuple[str, ...], list[Sense]] = defaultdict(list)
        for language in self.languages.values():
            for sense in language.senses:
                words = self._without_stops(sense.words)
                if len(words) == 1 < len(sense.words):
                    continue  # "no of" is not "no"
                if len(words) > 1:
                    words = tuple(_NUMBERS.get(word, word) for word in words)
                index[words].append(sense)
        self._index: Mapping[tuple[str, ...], tuple[Sense, ...]] = {
            words: tuple(found) for words, found in index.items()
        }
        self._longest_from: dict[str, int] = {}
        for words in index:
            self._longest_from[words[0]] = max(len(words), self._longest_from.get(words[0], 1))
        self._forms: dict[str, tuple[str, ...]] = {}
        self._meant: dict[
            tuple[tuple[str, ...], bool, Favoured], tuple[frozenset[str], frozenset[str]] | None
        ] = {}
        self._split: dict[str, tuple[str, ...]] = {}
        self._read: dict[tuple[str, bool, Favoured], Reading] = {}

    def tokens(self, name: str) -> tuple[str, ...]:
        """The words of a name without the small ones between them, glued ones taken apart."""
        found = self._split.get(name)
        if found is None:
            whole = fold(name).lower()
            words = (whole,) if (whole,) in self._index else split(name)
            pieces = [piece for word in words for piece in self._apart(word)]
            found = self._without_stops(tuple(pieces))
            if len(self._split) > _KEPT:
                self._split.clear()
            self._split[name] = found
        return found

    def _without_stops(self, words: tuple[str, ...]) -> tuple[str, ...]:
        kept = tuple(
            word
            for at, word in enumerate(words)
            if word not in self._stop or (word == "of" and at and words[at - 1] in _COUNTING)
        )
        return kept or words

    def _apart(self, word: str) -> tuple[str, ...]:
        if self._base(word) or word in self._stop:
            return (word,)
        return unglue(word, self._is_piece, self._beginnings) or (word,)

    def _is_piece(self, piece: str, is_short: bool) -> bool:
        return piece in self._glued if is_short else piece in self._pieces

    def _base(self, word: str) -> str:
        """The form of a word that is listed, or nothing."""
        if word in self._longest_from:
            return word
        if len(word) > 4:
            for ending, instead in _ENDINGS:
                if word.endswith(ending):
                    form = word[: -len(ending)] + instead
                    if len(form) > 3 and (form,) in self._index:
                        return form
        return ""

    def _forms_of(self, word: str) -> tuple[str, ...]:
        """How a word may be listed, as it is in names of several words first."""
        found = self._forms.get(word)
        if found is None:
            if len(self._forms) > _KEPT:
                self._forms.clear()
            several = dict.fromkeys((_NUMBERS.get(word, word), word, self._base(word)))
            found = self._forms[word] = tuple(each for each in several if each)
        return found

    def read(self, name: str, *, table: bool = False, favoured: Favoured = ()) -> Reading:
        """What a column's name means, or a table's, among words of the favoured languages, best first."""
        key = (name, table, favoured)
        found = self._read.get(key)
        if found is None:
            if len(self._read) > _KEPT:
                self._read.clear()
            found = self._read[key] = self._make(self.tokens(name), table, favoured)
        return found

    def _make(self, tokens: tuple[str, ...], table: bool, favoured: Favoured) -> Reading:
        parts: list[Part] = []
        at = 0
        while at < len(tokens):
            part = self._longest(tokens, at, table, favoured)
            parts.append(part)
            at += len(part.words)
        concepts = frozenset(concept for part in parts for concept in part.concepts)
        return Reading(tokens, tuple(parts), concepts)

    def _longest(self, tokens: tuple[str, ...], at: int, table: bool, favoured: Favoured) -> Part:
        for first in self._forms_of(tokens[at]):
            most = min(self._longest_from.get(first, 0), len(tokens) - at)
            for size in range(most, 0, -1):
                for words in self._candidates(first, tokens[at : at + size]):
                    senses = self._index.get(words)
                    meant = self._meaning(words, senses, table, favoured) if senses else None
                    if meant is not None:
                        return Part(tokens[at : at + size], *meant)
        return Part((tokens[at],), frozenset())

    def _candidates(self, first: str, tokens: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(tokens) == 1:
            yield (first,)
            return
        middle = tuple(_NUMBERS.get(token, token) for token in tokens[1:-1])
        for last in self._forms_of(tokens[-1]):
            yield (first, *middle, last)

    def _meaning(
        self, words: tuple[str, ...], senses: tuple[Sense, ...], table: bool, favoured: Favoured
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """The concepts that the words mean there, and whose words they are; none when they mean nothing."""
        key = (words, table, favoured)
        if key not in self._meant:
            if len(self._meant) > _KEPT:
                self._meant.clear()
            chosen = self._choose(senses, table, favoured)
            self._meant[key] = (
                (
                    frozenset(sense.concept for sense in chosen),
                    frozenset(sense.language for sense in senses if not sense.shy),
                )
                if chosen
                else None
            )
        return self._meant[key]

    def _choose(self, senses: tuple[Sense, ...], table: bool, favoured: Favoured) -> tuple[Sense, ...]:
        """The senses of one language: a favoured one, else the one that most people speak."""
        best: tuple[int, str] | None = None
        for sense in senses:
            if sense.in_tables and not table:
                continue
            if sense.language in favoured:
                rank = favoured.index(sense.language) - 1000
            elif sense.shy or (sense.language != "en" and _is_doubtful(sense, senses)):
                continue
            else:
                rank = self.order[sense.language]
            if best is None or rank < best[0]:
                best = (rank, sense.language)
        if best is None:
            return ()
        mine = [sense for sense in senses if sense.language == best[1] and (table or not sense.in_tables)]
        special = [sense for sense in mine if sense.in_tables]
        return tuple(special or mine)

    def favoured(self, names: Iterable[tuple[str, float]], *, told: str = "") -> Favoured:
        """The languages that names are written in, best first; empty when it is English or cannot be told."""
        scores: dict[str, float] = defaultdict(float)
        for name, weight in names:
            for part in self.read(name).parts:
                for language in part.languages:
                    scores[language] += weight / len(part.languages)
        english = scores.pop("en", 0.0)
        for code in told.lower().replace("/", " ").replace(",", " ").split():
            if code[:2] in self.languages and code[:2] != "en":
                scores[code[:2]] += 5
        top = max(scores.values(), default=0.0)
        if top < _ENOUGH or english > 2.5 * top:
            return ()
        ranked = sorted(scores, key=lambda code: (-scores[code], self.order[code]))
        return tuple(code for code in ranked if scores[code] >= max(_ENOUGH, top / 2))[:2]
