"""Passwords do not come in: user information of URLs, and values beside words that mean a secret, are masked.

Every search is linear in the text, whatever is in it: bodies come from anybody who may send events.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
_SHORT, _MOST_PLAIN = 300, 20_000
_plain: set[str] = set()
"""Short names without anything to mask: the same come over and over. Never one that may hold a secret."""
# Here the part before "@" is a container, not a user.
_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
_USERINFO = re.compile(r"://([^\s/@\"'<>?#]*(?:@[^\s/@\"'<>?#]+)*)@")
# A password that holds a slash: what follows the colon is no port.
_SLASHED = re.compile(r"://[^\s/@:\"'<>]{0,100}:(?!\d+(?:[,/]|\Z))[^\s@/\"'<>]{0,100}/[^\s@\"'<>]{0,100}@")
_ORACLE = re.compile(r"(jdbc:oracle:[a-z0-9]{1,10}:)[^\s@/\"']{1,128}/[^\s@\"']{1,128}@", re.IGNORECASE)
_WORDS = r"(?:passwords?|passwd|pwd|passphrase)"
_WORD = (
    rf"(?:{_WORDS}|secrets?|token|credentials?|shared[_\-.]?access[_\-.]?signature|"
    r"(?:secret|api|access|private|account|shared|encryption)[_\-.]?key)"
)
_SECRET_KEY = re.compile(rf"{_WORD}\Z|account\.key\.[a-z0-9.\-]+\Z", re.IGNORECASE)
_OF_PEOPLE = re.compile(rf"{_WORDS}\Z", re.IGNORECASE)
_HEAD = re.compile(
    rf"{_WORD}(?:\\{{0,15}}[\"'])?(?:\s{{0,20}}[:=]\s{{0,20}}(?=\\{{0,15}}[\"'])|[:=])", re.IGNORECASE
)
_OPENING = re.compile(r"(\\*)([\"'])")
_PLAIN = re.compile(r"[^\s&;,\"'}})]*")
_OPTION = re.compile(rf"(--[a-z0-9\-]{{0,40}}{_WORDS}\s{{1,10}})(?![\s\-])[^\s\"',;]+", re.IGNORECASE)
_SQL = re.compile(
    r"((?:\bpassword|\bidentified\s{1,20}by)\s{1,20})('(?:[^']|'')*'|\"[^\"]*\")", re.IGNORECASE
)


def may_hold_secrets(text: str) -> bool:
    """A cheap look at a whole body; False means there is nothing to mask."""
    low = text.lower()
    return (
        "@" in low or "passw" in low or "pwd" in low or "passphrase" in low or "secret" in low or "token" in low
        or "key" in low or "signature" in low or "credential" in low or "identified" in low or "\\u00" in low
    )  # fmt: skip


def without_userinfo(text: str) -> str:
    """A namespace or name without the user, and the password, of the URL in it."""
    if text in _plain:
        return text
    if not may_hold_secrets(text):
        if len(text) <= _SHORT:
            if len(_plain) >= _MOST_PLAIN:
                _plain.clear()
            _plain.add(text)
        return text
    return masked_text(_USERINFO.sub(lambda hit: hit[0] if _is_container(hit) else "://", text))


def are_plain(*texts: str) -> bool:
    """Whether all of these were found to be short and to hold nothing to mask."""
    return all(text in _plain for text in texts)


def masked_text(text: str) -> str:
    """A text whose passwords are gone. A user without a password stays."""
    if not may_hold_secrets(text):
        return text
    clean = text
    if "@" in clean:
        clean = _USERINFO.sub(lambda hit: "://" if ":" in hit[1] else hit[0], clean)
        clean = _ORACLE.sub(r"\1", _SLASHED.sub("://", clean))
    clean = _OPTION.sub(rf"\1{MASK}", _without_values(clean))
    clean = _SQL.sub(lambda hit: f"{hit[1]}'{MASK}'", clean)
    return text if clean == text else clean


def masked(value: Any) -> Any:
    """A JSON value whose secrets are masked; the same object where there are none."""
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, list):
        items = [masked(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        return _masked_object(value)
    return value


def _masked_object(value: dict[str, Any]) -> dict[str, Any]:
    said = [value.get(word) for word in ("name", "key")] if "value" in value else []
    names = next((one for one in said if isinstance(one, str) and _SECRET_KEY.search(one)), "")
    found = {}
    changed = False
    for key, old in value.items():
        about = names if key == "value" else key
        if about and _SECRET_KEY.search(about) is not None:
            new = _hidden(about, old)
        elif key in {"namespace", "name"} and isinstance(old, str):
            new = without_userinfo(old)
        else:
            new = masked(old)
        clean_key = without_userinfo(key)
        changed = changed or new is not old or clean_key != key
        found[clean_key] = new
    return found if changed else value


def _hidden(key: str, value: Any) -> Any:
    """The mask for a text, a list of texts, or a number under a word for passwords; objects are looked into."""
    if isinstance(value, str):
        return MASK if value else value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return [MASK]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return MASK if is_number and _OF_PEOPLE.search(key) else masked(value)


def _is_container(hit: re.Match[str]) -> bool:
    if ":" in hit[1]:
        return False
    before = hit.string[max(hit.start() - 6, 0) : hit.start()].lower()
    return before.rpartition(":")[2].endswith(_CONTAINERS)


def _without_values(text: str) -> str:
    """The text with a mask for each value that a word for a secret is set to."""
    pieces: list[str] = []
    place = 0
    while (head := _HEAD.search(text, place)) is not None:
        mark, end = _value_at(text, head.end())
        pieces.append(text[place : head.end()])
        if end > head.end():
            pieces.append(f"{mark}{MASK}{mark}")
        place = end
    return "".join([*pieces, text[place:]]) if pieces else text


def _value_at(text: str, start: int) -> tuple[str, int]:
    """The quotation mark of a value, with the backslashes before it, and where the value ends."""
    opening = _OPENING.match(text, start)
    if opening is None:
        if text[start : start + 1] == "{" and (close := text.find("}", start, start + 300)) > 0:
            return "", close + 1  # how drivers write a value that holds semicolons
        plain = _PLAIN.match(text, start)
        return "", plain.end() if plain is not None else start
    slashes, quote = len(opening[1]), opening[2]
    place = opening.end()
    while (end := text.find(quote, place)) >= 0:
        before = end - len(text[place:end].rstrip("\\")) - place
        escaped = before % 2 == 1 if slashes == 0 else before > slashes
        if not escaped and not (slashes == 0 and quote == "'" and text[end + 1 : end + 2] == "'"):
            return opening[0], end + 1
        place = end + (1 if escaped else 2)
    return opening[0], len(text)  # it never ends; better too much than too little
