"""SQL expression texts in one spelling: what a default, a generated column or an index predicate says.

Each rule looks at the text alone, so that equal texts stay equal whatever stands around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<number>\d[\w.]*)
      | (?P<space>\s+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_SIMPLE_NAME = re.compile(r"[a-z_][a-z0-9_$]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NUMERIC_TYPES = frozenset(
    {"smallint", "integer", "bigint", "numeric", "real", "double precision", "int", "decimal"}
)
_LITERAL_CAST = re.compile(r"('(?:[^']|'')*'|null)::([\w$.\" ]+)", re.DOTALL)
_NEXTVAL = re.compile(r"nextval\('(.*)'(?:::regclass)?\)", re.DOTALL)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        value = match.group()
        if kind == "quoted":
            name = value[1:-1].replace(value[0] * 2, value[0])
            value = name if _SIMPLE_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'
        elif kind in ("word", "number"):
            value = value.lower()
        yield kind, value


def _unwrapped(text: str) -> str:
    """The text without the brackets that stand around the whole of it; read once, however many there are."""
    closing: dict[int, int] = {}
    open_at: list[int] = []
    for match in _TOKEN.finditer(text) if text.startswith("(") else ():
        if match.group() == "(":
            open_at.append(match.start())
        elif match.group() == ")":
            if not open_at:
                break
            closing[open_at.pop()] = match.start()
    around = 0
    while closing.get(around) == len(text) - 1 - around:
        around += 1
    return text[around : len(text) - around]


@lru_cache(maxsize=8192)
def normal_expression(text: str) -> str:
    """The text without blanks, case and quotes that mean nothing; strings stay as they are."""
    parts: list[str] = []
    gap = glue = False
    for kind, value in _tokens(text):
        if kind == "space":
            gap = True
            continue
        sticky = kind != "other"
        if gap and glue and sticky:
            parts.append(" ")
        parts.append(value)
        gap, glue = False, sticky
    return _unwrapped("".join(parts))


@lru_cache(maxsize=8192)
def normal_default(text: str | None) -> str | None:
    """A default in one spelling; None where it gives no value (absent or NULL)."""
    if text is None:
        return None
    out = normal_expression(text)
    cast = _LITERAL_CAST.fullmatch(out)
    if cast is not None:
        literal, target = cast.groups()
        bare = literal[1:-1]
        out = bare if target in _NUMERIC_TYPES and _NUMBER.fullmatch(bare) else literal
    if out == "null":
        return None
    if out in ("now()", "current_timestamp()"):
        return "current_timestamp"
    if out.startswith("now("):
        return "current_timestamp(" + out[4:]
    sequence = _NEXTVAL.fullmatch(out)
    if sequence is not None:
        return f"nextval({_last_part(sequence.group(1))})"
    return out


def _last_part(name: str) -> str:
    parts = [value for kind, value in _tokens(name) if kind in ("quoted", "word")]
    return parts[-1] if parts else name


def rename_in_expression(text: str, names: Mapping[str, str]) -> str:
    """The text with columns called by their new names; the case of unquoted names does not count."""
    folded = {old.lower(): new for old, new in names.items()}
    out: list[str] = []
    for match in _TOKEN.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "quoted":
            old = value[1:-1].replace(value[0] * 2, value[0])
            if old in names:
                value = value[0] + names[old].replace(value[0], value[0] * 2) + value[0]
        elif kind == "word" and value.lower() in folded and not _is_no_column(text, match):
            new = folded[value.lower()]
            value = new if _SIMPLE_NAME.fullmatch(new) else '"' + new.replace('"', '""') + '"'
        out.append(value)
    return "".join(out)


def _is_no_column(text: str, match: re.Match[str]) -> bool:
    """A word before a bracket calls a function; one after two colons names a type."""
    return text[match.end() :].lstrip().startswith("(") or text[: match.start()].rstrip().endswith("::")
