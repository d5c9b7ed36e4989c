"""Facets: which are kept beside the raw event, which of two is the newer, and what they say about flows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

LONGEST = 16_000
MOST = 100
# These become edges and names.
_TAKEN_APART = frozenset({"columnLineage", "lineage", "symlinks"})
Stamped = dict[str, Any]


def facets_of(value: Any) -> dict[str, Any]:
    """The facets of a thing: an object of objects; anything else is none."""
    if not isinstance(value, dict):
        return {}
    return {key: facet for key, facet in value.items() if isinstance(facet, dict)}


def stamped(facets: Mapping[str, Any], *, at: str) -> Stamped:
    """The facets that are kept, each with the time of its event. One that is too long stays in the event only."""
    found: Stamped = {}
    for name, facet in facets.items():
        if name in _TAKEN_APART or len(found) >= MOST or len(name) > 200:
            continue
        found[name] = {"at": at, "value": facet if len(packed(facet)) <= LONGEST else _shortened(facet)}
    return found


def _shortened(facet: Any) -> Any:
    length = len(_text(facet))
    return facet if length <= LONGEST else {"_omitted": f"{length} characters; see the event"}


def packed(value: Any) -> bytes:
    """One spelling of a JSON value, made quickly: what is equal has the same."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def newest(present: Mapping[str, Any], other: Mapping[str, Any]) -> Stamped:
    """Of each facet the newer; of two from one moment the one whose text is greater, so that order is no matter."""
    found = dict(present)
    for name, entry in other.items():
        old = found.get(name)
        if old is None or _is_newer(entry, old):
            found[name] = entry
    return found


def _is_newer(entry: Any, old: Any) -> bool:
    if entry["at"] != old["at"]:
        return bool(entry["at"] > old["at"])
    return entry["value"] != old["value"] and _text(entry["value"]) > _text(old["value"])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_there(facet: Any) -> bool:
    """Whether a facet says something; `_deleted` takes an earlier one back."""
    return isinstance(facet, dict) and facet.get("_deleted") is not True


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list that may be anything."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def transformation_of(value: Mapping[str, Any]) -> tuple[str, bool]:
    """(type/subtype, masking) of what was done to a value on its way; masked only where every way masks."""
    found = list(objects(value.get("transformations")))
    if not found:
        return "", False
    words = sorted(
        "/".join(str(one[key]) for key in ("type", "subtype") if isinstance(one.get(key), str) and one[key])
        for one in found
    )
    return words[0][:100], all(one.get("masking") is True for one in found)
