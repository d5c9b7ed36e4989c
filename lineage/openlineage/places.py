"""Names in events: read with their bounds, without anybody's user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage.openlineage.model import DatasetName, RefusedEventError
from lineage.openlineage.secrets import are_plain, without_userinfo

LONGEST_NAMESPACE = 1_000
LONGEST_NAME = 2_000
_MOST_PLAIN = 20_000
_plain: dict[tuple[str, str], DatasetName] = {}
"""Pairs that are names as they stand: the same come over and over. Never one that may hold a secret."""


def dataset_name(item: Mapping[str, Any]) -> DatasetName | None:
    """The name in an object with `namespace` and `name`, without anybody's user; None where a part is missing."""
    namespace, name = item.get("namespace"), item.get("name")
    if not isinstance(namespace, str) or not isinstance(name, str):
        return None
    known = _plain.get((namespace, name))
    if known is not None:
        return known
    found = DatasetName(without_userinfo(namespace.strip()), without_userinfo(name.strip()))
    if not all(found):
        return None
    check_length(found, "dataset")
    if found == (namespace, name) and are_plain(*found):
        if len(_plain) >= _MOST_PLAIN:
            _plain.clear()
        _plain[found] = found
    return found


def check_length(found: tuple[str, str], word: str) -> None:
    if len(found[0]) > LONGEST_NAMESPACE or len(found[1]) > LONGEST_NAME:
        raise RefusedEventError(
            f"A {word}'s namespace has at most {LONGEST_NAMESPACE} characters and its name {LONGEST_NAME}."
        )
