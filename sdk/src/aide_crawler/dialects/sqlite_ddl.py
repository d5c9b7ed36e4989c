"""What only the definition text of SQLite tells: generated expressions, AUTOINCREMENT, index predicates."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))
      | (?P<string>'(?:[^']|'')*')
      | (?P<double>"(?:[^"]|"")*")
      | (?P<tick>`(?:[^`]|``)*`)
      | (?P<bracket>\[[^\]]*\])
      | (?P<word>[^\W\d][\w$]*)
      | (?P<number>\d[\w.]*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {"string": "'", "double": '"', "tick": "`"}


@dataclass(frozen=True, slots=True)
class _Token:
    """One token: its kind, its text, where it stands, and how deep in parentheses."""

    kind: str
    text: str
    start: int
    end: int
    depth: int

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text.upper() == word

    @property
    def name(self) -> str:
        """The identifier that the token writes."""
        if self.kind == "bracket":
            return self.text[1:-1]
        quote = _QUOTES.get(self.kind)
        return self.text[1:-1].replace(quote * 2, quote) if quote else self.text


def generated_expressions(definition: str) -> dict[str, str]:
    """The expression of each generated column of a CREATE TABLE text, by its name in lower case."""
    tokens = _tokens(definition)
    found: dict[str, str] = {}
    for element in _elements(tokens):
        for index, token in enumerate(element[:-1]):
            after = element[index + 1]
            if token.is_word("AS") and token.depth == 1 and after.text == "(" and index > 0:
                end = next((t for t in element[index + 2 :] if t.text == ")" and t.depth == 1), None)
                if end is not None:
                    found[element[0].name.lower()] = definition[after.end : end.start].strip()
                break
    return found


def is_autoincrement(definition: str) -> bool:
    """Whether the table's key is AUTOINCREMENT, a word that SQLite reserves."""
    return any(token.is_word("AUTOINCREMENT") for token in _tokens(definition))


def index_predicate(definition: str) -> str | None:
    """The condition of a partial index."""
    tokens = _tokens(definition)
    for token in tokens:
        if token.depth == 0 and token.is_word("WHERE"):
            return definition[token.end :].strip().rstrip(";").strip()
    return None


def index_terms(definition: str) -> list[str]:
    """The text of each term of an index, without its direction."""
    terms = []
    for element in _elements(_tokens(definition)):
        text = definition[element[0].start : element[-1].end]
        if len(element) > 1 and (element[-1].is_word("ASC") or element[-1].is_word("DESC")):
            text = definition[element[0].start : element[-2].end]
        terms.append(text)
    return terms


def _tokens(definition: str) -> list[_Token]:
    tokens = []
    depth = 0
    for match in _TOKEN.finditer(definition):
        kind = match.lastgroup or "other"
        if kind == "space":
            continue
        text = match.group()
        if text == ")" and kind == "other":
            depth -= 1
        tokens.append(_Token(kind, text, match.start(), match.end(), depth))
        if text == "(" and kind == "other":
            depth += 1
    return tokens


def _elements(tokens: list[_Token]) -> list[list[_Token]]:
    """The parts between the commas of the first outermost parentheses."""
    elements: list[list[_Token]] = []
    inside = False
    for token in tokens:
        if not inside:
            if token.text == "(" and token.depth == 0 and token.kind == "other":
                inside = True
                elements.append([])
        elif token.text == ")" and token.depth == 0 and token.kind == "other":
            break
        elif token.text == "," and token.depth == 1 and token.kind == "other":
            elements.append([])
        else:
            elements[-1].append(token)
    return [element for element in elements if element]
