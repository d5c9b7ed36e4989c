"""How two documents' lists differ: keys that came, went or changed, and the order of fields. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from registry.documents.content import dumps

Document = Mapping[str, Any]
Key = dict[str, Any]


def difference(
    before: Sequence[Document], after: Sequence[Document], content: Callable[[Document], Any]
) -> tuple[list[Key], list[Key]]:
    """Entries of each side that have no counterpart on the other, equal ones counted."""
    if before == after:
        return [], []
    was = [(dumps(content(key)), key) for key in before]
    now = [(dumps(content(key)), key) for key in after]
    return _surplus(was, now), _surplus(now, was)


def _surplus(mine: list[tuple[str, Document]], theirs: list[tuple[str, Document]]) -> list[Key]:
    left = Counter(mark for mark, _ in theirs)
    out = []
    for mark, key in mine:
        if left[mark]:
            left[mark] -= 1
        else:
            out.append(dict(key))
    return out


def paired(gone: list[Key], come: list[Key]) -> list[tuple[Key | None, Key | None]]:
    """A gone and a new foreign key are one changed key when they have the same name, or else the same columns."""
    pairs: list[tuple[Key | None, Key | None]] = []
    rest = list(come)
    single: list[Key] = list(gone)
    for same in (
        lambda a, b: a.get("name") is not None and a.get("name") == b.get("name"),
        lambda a, b: list(a["columns"]) == list(b["columns"]),
    ):
        still = []
        for was in single:
            now = next((key for key in rest if same(was, key)), None)
            if now is None:
                still.append(was)
            else:
                rest.remove(now)
                pairs.append((was, now))
        single = still
    return pairs + [(was, None) for was in single] + [(None, now) for now in rest]


def order_change(before: Document, after: Document) -> tuple[list[str], list[str]] | None:
    """The order of the newer document's fields as it would stay, and as it is; None where both are the same."""
    now = [field["name"] for field in after.get("fields") or ()]
    here = set(now)
    stays = [field["name"] for field in before.get("fields") or () if field["name"] in here]
    known = set(stays)
    was = stays + [name for name in now if name not in known]
    return (was, now) if was != now else None
