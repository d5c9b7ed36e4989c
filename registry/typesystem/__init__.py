"""Parametric types of every flavor: read a native spelling, check parameters, write SQL. Pure, without I/O."""

from __future__ import annotations

from registry.typesystem.model import (
    Catalogue,
    Example,
    ParamError,
    ParamsInvalid,
    Slot,
    TemplateInvalid,
    TypeDef,
    TypeExpr,
    TypeSystemError,
)
from registry.typesystem.params import check_params, check_schema
from registry.typesystem.parsing import Mark, build, mark_of, parse, remember
from registry.typesystem.rendering import check_template, render

__all__ = [
    "Catalogue",
    "Example",
    "Mark",
    "ParamError",
    "ParamsInvalid",
    "Slot",
    "TemplateInvalid",
    "TypeDef",
    "TypeExpr",
    "TypeSystemError",
    "build",
    "check_params",
    "check_schema",
    "check_template",
    "mark_of",
    "parse",
    "remember",
    "render",
]
