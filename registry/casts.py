"""Casts with the rules and catalogues of the database: `planner_for` joins them for the pure `registry.casting`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from registry import reading
from registry.casting import Planner, Rule, TablePlan, plan_document, planner
from registry.catalogues import catalogue_for
from registry.models import CastRule, DatasetSchema


def rules_between(source: str, target: str) -> QuerySet[CastRule]:
    """The living rules from one flavor's types to another's."""
    return CastRule.objects.alive().filter(
        source_data_type__flavor__code=source,
        source_data_type__deleted_at__isnull=True,
        target_data_type__flavor__code=target,
        target_data_type__deleted_at__isnull=True,
    )


def planner_for(source: str, target: str, *, rules: Iterable[CastRule] | None = None) -> Planner:
    """A planner from one flavor to another; one small query for each catalogue and one for the rules."""
    if rules is None:
        rules = rules_between(source, target).select_related("source_data_type", "target_data_type")
    return planner(catalogue_for(source), catalogue_for(target), [rule_of(row) for row in rules])


def rule_of(row: CastRule) -> Rule:
    """A row as the planner takes it."""
    return Rule(
        source=row.source_data_type.code,
        target=row.target_data_type.code,
        param_mapping=row.param_mapping,
        safety=row.safety,
        template=row.template,
        pk=row.pk,
    )


def plan_version(version: DatasetSchema, *, to: str) -> TablePlan:
    """A published version of a dataset, planned for another flavor; what people wrote becomes the comments."""
    document: dict[str, Any] = reading.described(version)
    if version.dataset.description:
        document["comment"] = version.dataset.description
    return plan_document(document, planner=planner_for(version.dataset.system.flavor.code, to))
