"""What an earlier crawl compared already: the same document against the same version needs no second look."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aide.core import bulk
from crawling import diff
from crawling.models import Observation
from registry import documents, reading, typesystem
from registry.models import System
from registry.typesystem import Catalogue

Document = Mapping[str, Any]
_MARSHAL_WITHOUT_REFERENCES = 2


class Settled:
    """The documents of a snapshot, and which of them were found equal to a version before.

    An observation keeps a mark over what was seen, the version that said the same, and the rules of comparing. While
    all three are as they were, nothing can differ, and the registry's document need not be read.
    """

    def __init__(self, system: System, found: Mapping[str, Document], *, catalogue: Catalogue) -> None:
        self._found = found
        self._rules = _rules_of(catalogue)
        rows = Observation.objects.filter(system=system)
        self.seen = {
            name: (content_hash, settled if gone_at is None else "")
            for name, content_hash, settled, gone_at in rows.values_list(
                "dataset_name", "content_hash", "settled", "gone_at"
            )
        }
        self.hashes = {name: content_hash_of(document) for name, document in found.items()}

    def document(self, name: str, schema_id: int) -> Document | None:
        """The document of a dataset whose version says what was found; None where that is to be compared."""
        content_hash = self.hashes.get(name)
        before = self.seen.get(name)
        if content_hash is None or before is None or before[0] != content_hash:
            return None
        return self._found[name] if before[1] == self.mark(name, schema_id) else None

    def mark(self, name: str, schema_id: int) -> str:
        """What an observation keeps once its document was found equal to a version."""
        return _mark(self._rules, schema_id, self.hashes[name])


def settle_equal(versions: Mapping[int, int], *, catalogue: Catalogue) -> None:
    """Mark observations, by id, whose documents say the same as versions that were just published."""
    rules = _rules_of(catalogue)
    rows = Observation.objects.filter(pk__in=versions, gone_at__isnull=True)
    marked = [
        Observation(pk=pk, settled=_mark(rules, versions[pk], content_hash))
        for pk, content_hash in rows.values_list("pk", "content_hash")
    ]
    bulk.update(marked, ["settled"])


def _mark(rules: str, schema_id: int, content_hash: str) -> str:
    return hashlib.sha256(f"{rules}:{schema_id}:{content_hash}".encode()).hexdigest()


def content_hash_of(document: Any) -> str:
    """A hash over the whole document, positions and attributes included."""
    return hashlib.sha256(marshal.dumps(document, _MARSHAL_WITHOUT_REFERENCES)).hexdigest()


def _rules_of(catalogue: Catalogue) -> str:
    """Changes with whatever decides about a difference: the types of the flavor, and the code that compares."""
    types = hashlib.sha256(repr((catalogue.flavor, catalogue.types)).encode())
    return hashlib.sha256(types.digest() + _code()).hexdigest()


@cache
def _code() -> bytes:
    digest = hashlib.sha256()
    for module in (diff, documents, typesystem, reading):
        path = Path(str(module.__file__))
        for file in sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]:
            digest.update(file.read_bytes())
    return digest.digest()
