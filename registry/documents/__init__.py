"""Schema documents: checked, reduced to their content, addressed by path. Pure; anybody may use it."""

from __future__ import annotations

from registry.documents.checking import DocumentInvalid, clean, column_lists, known_columns, number_key
from registry.documents.content import canonical, digest, dumps, fingerprint
from registry.documents.paths import field_path, split_path, walk

__all__ = [
    "DocumentInvalid",
    "canonical",
    "clean",
    "column_lists",
    "digest",
    "dumps",
    "field_path",
    "fingerprint",
    "known_columns",
    "number_key",
    "split_path",
    "walk",
]
