"""Columns to suggestions: which kinds of personal data a column may hold, how surely, and why. Pure.

Nothing in here takes effect: a suggestion waits for a person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from registry.pii.columns import NAME_ONLY_CAP, Column, Suggestion
from registry.pii.kinds import UNKNOWN as NO_FAMILY
from registry.pii.kinds import WORDS as FAMILIES
from registry.pii.kinds import family_of
from registry.pii.rules import Rule, RuleSet
from registry.pii.sampled import ValueVerdict, judge_values
from registry.pii.seeds import default_rules
from registry.pii.tables import UNKNOWN as UNKNOWN_TABLE
from registry.pii.tables import WORDS as TABLE_WORDS
from registry.pii.tables import Table, describe
from registry.pii.vocabulary import Reading, Vocabulary, base

_TYPE_BONUS, _TABLE_BONUS, _COMMENT_BONUS = 0.06, 0.06, 0.05
_COMMENT_CONFIDENCE = 0.72
_COMMENT_WORDS = 6
_HIGHEST = 0.99
_SMALL = 2  # letters of an unknown word that says nothing
_TOO_STRANGE = 3  # unknown words in a name, with which nothing is said about it
_PERSONAL = frozenset({"person", "contact", "relative", "sure_name", "personname"})
_ABOUT = frozenset({"person", "contact", "health"})
_ONLY_NAMED = frozenset(
    {"thing", "place", "tech"}
)  # what a table's name says, unless its columns name people
_QUIET = frozenset({"plain", "number", "line"})
_UNTYPED_VETOES = frozenset({"flag", "date", "moment", "time", "duration"})


class Classifier:
    """A rule set made ready. Keep one for many columns; it holds nothing but the rules."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.vocabulary = Vocabulary(rules.languages)
        self._vetoes = frozenset(rules.vetoes)
        self._by_concept: dict[str, list[tuple[frozenset[str], Rule]]] = defaultdict(list)
        self._by_word: dict[str, list[tuple[tuple[str, ...], Rule]]] = defaultdict(list)
        common: dict[str, int] = defaultdict(int)
        for rule in rules.rules:
            for wanted in rule.concepts:
                for concept in wanted:
                    common[concept] += 1
        for rule in rules.rules:
            for wanted in rule.concepts:
                self._by_concept[min(wanted, key=lambda each: (common[each], each))].append((wanted, rule))
            for phrase in rule.phrases:
                self._by_word[phrase[0]].append((phrase, rule))

    def classify(self, columns: Sequence[Column]) -> list[list[Suggestion]]:
        """The suggestions for each column, in the same order, best first; columns of a table know each other."""
        groups: dict[str, list[int]] = defaultdict(list)
        for place, column in enumerate(columns):
            groups[column.table].append(place)
        answers: list[list[Suggestion]] = [[] for _ in columns]
        for name, places in groups.items():
            told = next((columns[place].language for place in places if columns[place].language), "")
            table = describe(self.vocabulary, name, [columns[place].name for place in places], told=told)
            for place in places:
                answers[place] = self._one(columns[place], table)
        return answers

    def _one(self, column: Column, table: Table) -> list[Suggestion]:
        family = family_of(column.native_type)
        reading = self.vocabulary.read(column.name, favoured=table.favoured)
        found = self._matches(reading, family, table)
        comment = self._comment(column, family, table)
        suggestions: dict[str, Suggestion] = {}
        for rule, wanted in found:
            _keep(suggestions, self._explain(column, reading, rule, wanted, family, table, comment))
        if not suggestions and not self._vetoed(reading):
            for rule, words in comment.items():
                _keep(suggestions, _from_comment(column, rule, words, family))
        verdict = judge_values(column.values)
        if verdict is not None:
            _with_values(suggestions, verdict)
        return sorted(suggestions.values(), key=lambda each: (-each.confidence, each.tag))

    def _vetoed(self, reading: Reading) -> bool:
        return bool(reading.concepts & (self._vetoes | {"thing", "tech"}))

    def _matches(self, reading: Reading, family: str, table: Table) -> list[tuple[Rule, frozenset[str]]]:
        """The rules that hold, each with the concepts that it found."""
        found: dict[str, tuple[Rule, frozenset[str]]] = {}
        concepts = reading.concepts
        for concept in concepts:
            for wanted, rule in self._by_concept.get(concept, ()):
                if wanted <= concepts and self._holds(rule, wanted, reading, family, table):
                    kept = found.get(rule.code)
                    if kept is None or (len(kept[1]), sorted(kept[1])) < (len(wanted), sorted(wanted)):
                        found[rule.code] = (rule, wanted)
        if self._by_word:
            for place, token in enumerate(reading.tokens):
                for phrase, rule in self._by_word.get(token, ()):
                    if reading.tokens[place : place + len(phrase)] == phrase and self._holds(
                        rule, frozenset(), reading, family, table
                    ):
                        found.setdefault(rule.code, (rule, frozenset()))
        return list(found.values())

    def _holds(self, rule: Rule, wanted: frozenset[str], reading: Reading, family: str, table: Table) -> bool:
        concepts = reading.concepts
        if reading.unknown >= _TOO_STRANGE or not _fits(rule, family):
            return False
        if concepts & (self._vetoes - rule.despite - wanted):
            return False
        if concepts & (rule.unless - wanted):
            return False
        if any(_has(reading.tokens, phrase) for phrase in rule.veto_phrases):
            return False
        if rule.bare and not _is_bare(reading, wanted, table):
            return False
        if rule.only and table.kind not in rule.only:
            return False
        if table.kind not in rule.never or concepts & _PERSONAL:
            return True
        return table.names_people and table.kind in _ONLY_NAMED

    def _comment(self, column: Column, family: str, table: Table) -> dict[Rule, list[str]]:
        """The rules that a short comment speaks for, and its words."""
        text = column.comment.split(".")[0].split(";")[0]
        if not text or len(text) > 120 or text.count(" ") > 2 * _COMMENT_WORDS:
            return {}
        reading = self.vocabulary.read(text, favoured=table.favoured)
        if len(reading.parts) > _COMMENT_WORDS:
            return {}
        return {
            rule: reading.words_for(wanted)
            for rule, wanted in self._matches(reading, family, table)
            if not rule.bare
        }

    def _explain(
        self,
        column: Column,
        reading: Reading,
        rule: Rule,
        wanted: frozenset[str],
        family: str,
        table: Table,
        comment: dict[Rule, list[str]],
    ) -> Suggestion:
        matched = reading.words_for(wanted) if wanted else _phrase_words(reading, rule)
        sentences = [f"The name has {_quoted(matched)}: {rule.title or rule.tag}."]
        confidence = rule.confidence
        more = 0
        if family != NO_FAMILY and (not rule.types or family in rule.types):
            confidence += _TYPE_BONUS
            more += 1
            sentences.append(f"The type {column.native_type[:60]} holds {FAMILIES[family]}.")
        if table.kind != UNKNOWN_TABLE and (table.kind in rule.only or table.kind in _ABOUT):
            confidence += _TABLE_BONUS
            more += 1
            how = ", as its columns tell" if table.by_columns else ""
            sentences.append(f"The table {table.name[:60]} is about {TABLE_WORDS[table.kind]}{how}.")
        if comment and any(other.tag == rule.tag for other in comment):
            words = next(words for other, words in comment.items() if other.tag == rule.tag)
            confidence += _COMMENT_BONUS
            more += 1
            sentences.append(f"The comment has {_quoted(words)}.")
        if reading.unknown:
            confidence -= 0.05
        if not more:
            confidence = min(confidence, NAME_ONLY_CAP)
            sentences.append("Nothing else speaks for it.")
        return Suggestion(
            rule.tag,
            round(min(confidence, _HIGHEST), 2),
            rule.code,
            rule.version,
            " ".join(sentences),
            not more,
        )


def _fits(rule: Rule, family: str) -> bool:
    if family == NO_FAMILY:
        return True
    return family in rule.types if rule.types else family not in _UNTYPED_VETOES


def _is_bare(reading: Reading, wanted: frozenset[str], table: Table) -> bool:
    """Whether the name holds nothing but what is looked for, numbers, and words that say nothing in this table."""
    for part in reading.parts:
        if part.concepts & (wanted | _QUIET) or part.words[0].isdigit():
            continue
        if not table.silent.issuperset(map(base, part.words)) and (
            part.concepts or len(part.words[0]) > _SMALL
        ):
            return False
    return True


def _has(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tokens[at : at + size] == phrase for at in range(len(tokens) - size + 1))


def _phrase_words(reading: Reading, rule: Rule) -> list[str]:
    return next(([" ".join(phrase)] for phrase in rule.phrases if _has(reading.tokens, phrase)), [])


def _quoted(words: Iterable[str]) -> str:
    return " and ".join(f"“{word}”" for word in dict.fromkeys(words))


def _keep(suggestions: dict[str, Suggestion], new: Suggestion) -> None:
    kept = suggestions.get(new.tag)
    if kept is None or (kept.confidence, kept.rule) < (new.confidence, new.rule):
        suggestions[new.tag] = new


def _from_comment(column: Column, rule: Rule, words: list[str], family: str) -> Suggestion:
    sentences = f"The comment has {_quoted(words)}: {rule.title or rule.tag}. The name does not say so."
    if family != NO_FAMILY:
        sentences += f" The type {column.native_type[:60]} holds {FAMILIES[family]}."
    confidence = round(min(rule.confidence, _COMMENT_CONFIDENCE), 2)
    return Suggestion(rule.tag, confidence, rule.code, rule.version, sentences, False)


def _with_values(suggestions: dict[str, Suggestion], verdict: ValueVerdict) -> None:
    for tag, suggestion in list(suggestions.items()):
        changed = verdict.weigh(suggestion)
        if changed is None:
            del suggestions[tag]
        else:
            suggestions[tag] = changed
    for suggestion in verdict.own():
        if suggestion.tag not in suggestions:
            suggestions[suggestion.tag] = suggestion


_last: list[Classifier] = []


def classifier_for(rules: RuleSet) -> Classifier:
    """The classifier of a rule set; the latest ones are kept ready, for making one takes a moment."""
    for kept in _last:
        if kept.rules is rules or kept.rules == rules:
            return kept
    made = Classifier(rules)
    _last[:] = [made, *_last[:3]]
    return made


def classify(columns: Sequence[Column], *, rules: RuleSet | None = None) -> list[list[Suggestion]]:
    """What each column may hold, in the same order, best first, empty when nothing speaks for it.

    Columns of one table are judged together: a name, in a table with dates of birth, is a person's.
    """
    return classifier_for(rules or default_rules()).classify(columns)
