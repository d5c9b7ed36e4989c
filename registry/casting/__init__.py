"""Casts between flavors: plan a type, a field or a whole document for another technology, with its DDL. Pure."""

from __future__ import annotations

from registry.casting.ddl import write as write_ddl
from registry.casting.documents import FieldPlan, TablePlan, plan_document, plan_field
from registry.casting.planning import Cast, Planner, plan_type, planner
from registry.casting.rules import SAFETIES, Rule, check_rule

__all__ = [
    "SAFETIES",
    "Cast",
    "FieldPlan",
    "Planner",
    "Rule",
    "TablePlan",
    "check_rule",
    "plan_document",
    "plan_field",
    "plan_type",
    "planner",
    "write_ddl",
]
