"""Static files: hashed names once they are collected, plain names before that."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Names carry a hash where `collectstatic` has run; without a manifest the finders serve plain names."""

    manifest_strict = False

    def stored_name(self, name: str) -> str:
        if not self.hashed_files:
            return name
        return super().stored_name(name)
