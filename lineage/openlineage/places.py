"""Names in events: read with their bounds, without anybody's user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage.openlineage.model import DatasetName, RefusedEventError
from lineage.openlineage.secrets import without_userinfo

LONGEST_NAMESPACE = 1_000
LONGEST_NAME = 2_000


def dataset_name(item: Mapping[str, Any]) -> DatasetName | None:
    """The name in an object with `namespace` and `name`, without anybody's user; None where a part is missing."""
    namespace, name = item.get("namespace"), item.get("name")
    if not isinstance(namespace, str) or not isinstance(name, str):
        return None
    namespace, name = without_userinfo(namespace.strip()), without_userinfo(name.strip())
    if not namespace or not name:
        return None
    found = DatasetName(namespace, name)
    check_length(found, "dataset")
    return found


def check_length(found: tuple[str, str], word: str) -> None:
    if len(found[0]) > LONGEST_NAMESPACE or len(found[1]) > LONGEST_NAME:
        raise RefusedEventError(
            f"A {word}'s namespace has at most {LONGEST_NAMESPACE} characters and its name {LONGEST_NAME}."
        )
