"""Collects, while a dialect reads, what was listed, read, skipped and failed."""

from __future__ import annotations

from collections.abc import Callable

from aide_crawler.scope import Scope, read_schema_pattern
from aide_crawler.snapshot import Coverage, ObjectCoverage, SchemaCoverage


class CoverageNotes:
    """What a reader learns on its way; `coverage` closes the book."""

    def __init__(self) -> None:
        self.listed = 0
        self.all_schemas = False
        self.skipped: list[ObjectCoverage] = []
        self.failed: list[ObjectCoverage] = []
        self._schemas: dict[str, SchemaCoverage] = {}

    def schema(self, name: str, *, failed: str | None = None, reason: str | None = None) -> None:
        """A schema of the scope: listed, or failed with its reason."""
        status = "listed" if failed is None else "failed"
        self._schemas[name] = SchemaCoverage(name, status, reason if failed is None else failed)

    def missing_schemas(
        self, scope: Scope, existing: set[str], *, is_system: Callable[[str], bool], certain: bool = True
    ) -> None:
        """Schemas that the scope names and the crawl cannot give.

        `certain` tells that the source shows every schema. Then a missing one is certainly not there,
        and counts as listed and empty; else it failed.
        """
        self.all_schemas = certain
        for text in scope.schemas:
            name = read_schema_pattern(text).name_literal
            if name is None or not scope.covers_schema(name):
                continue
            if is_system(name):
                self.schema(name, reason="Schemas of the server itself are not crawled.")
            elif name not in existing and certain:
                self.schema(name, reason="There is no schema of this name.")
            elif name not in existing:
                self.schema(name, failed="There is no schema of this name, or this user may not see it.")

    def skip(self, schema: str, name: str, reason: str) -> None:
        """An object that was left out on purpose."""
        self.skipped.append(ObjectCoverage(schema, name, reason))

    def fail(self, schema: str, name: str, reason: str) -> None:
        """An object that was listed and could not be read."""
        self.failed.append(ObjectCoverage(schema, name, reason))

    def coverage(self, read: int) -> Coverage:
        """All of it."""
        return Coverage(
            schemas=tuple(sorted(self._schemas.values(), key=lambda schema: schema.name)),
            listed=self.listed,
            read=read,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            all_schemas=self.all_schemas,
        )
