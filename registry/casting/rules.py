"""Explicit cast rules: how one gives the target its parameters, and the SQL that converts a value. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.casting.fitting import flavor_name
from registry.typesystem import (
    Catalogue,
    TypeDef,
    TypeExpr,
    TypeSystemError,
    build,
    check_params,
    check_template,
)
from registry.typesystem.rendering import write
from registry.values import LOSSLESS, LOSSY, UNSAFE

SAFETIES = (LOSSLESS, LOSSY, UNSAFE)


@dataclass(frozen=True)
class Rule:
    """One rule between two types, by code. `template` is sandboxed Jinja2 with `column`, `type` and the target's
    parameters."""

    source: str
    target: str
    param_mapping: Mapping[str, Any] = field(default_factory=dict)
    safety: str = LOSSY
    template: str = ""
    pk: int | None = None

    @property
    def rank(self) -> int:
        return SAFETIES.index(self.safety) if self.safety in SAFETIES else len(SAFETIES)


def mapped(mapping: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """`{"precision": "@precision", "scale": 2}` with the source's parameters; what the source lacks is left out."""
    given: dict[str, Any] = {}
    for name, value in mapping.items():
        if isinstance(value, str) and value.startswith("@"):
            if params.get(value[1:]) is not None:
                given[name] = params[value[1:]]
        else:
            given[name] = value
    return given


def applied(
    rule: Rule, expr: TypeExpr, target: Catalogue, parts: Sequence[tuple[str, TypeExpr | None]]
) -> TypeExpr | str:
    """The target type that the rule makes of this instance, or the sentence that says why it cannot."""
    typedef = target.get(rule.target)
    if typedef is None:
        return f"The catalogue of {flavor_name(target.flavor)} has no type {rule.target}"
    params = {
        name: value
        for name, value in mapped(rule.param_mapping, expr.params).items()
        if name in typedef.takes
    }
    faults = check_params(typedef, params)
    if faults:
        return f"The rule to {typedef.name} cannot be followed: {faults[0].message}"
    children = _children(typedef, params, parts)
    if children is None:
        return f"The rule to {typedef.name} cannot be followed: a part has no cast"
    try:
        return build(target, rule.target, params, children)
    except TypeSystemError as fault:
        return f"The rule to {typedef.name} cannot be followed: {fault}"


def _children(
    typedef: TypeDef, params: Mapping[str, Any], parts: Sequence[tuple[str, TypeExpr | None]]
) -> dict[str, TypeExpr] | None:
    slots = [slot.name for slot in typedef.slots if slot.name not in params]
    if not slots or typedef.has_named_parts:
        return {}
    known = [part for _, part in parts if part is not None]
    if len(known) < len(slots):
        return None if any(slot.required for slot in typedef.slots) else {}
    return dict(zip(slots, known[-len(slots) :], strict=True))


def using(rule: Rule, made: TypeExpr, column: str) -> str:
    """The rule's SQL for a column; empty without a template or when it cannot be written."""
    if not rule.template:
        return ""
    typedef = TypeDef("", "using", "using", render_template=rule.template)
    try:
        return write(typedef, {**made.params, "column": column, "type": made.rendered})
    except TypeSystemError:
        return ""


def check_rule(source: TypeDef, target: TypeDef, mapping: Any, template: str) -> tuple[tuple[str, str], ...]:
    """What is wrong with a rule's values: (key, sentence) pairs."""
    found: list[tuple[str, str]] = []
    if not isinstance(mapping, Mapping):
        return (("param_mapping", "This must be an object."),)
    slots = {slot.name for slot in target.slots}
    for name, value in mapping.items():
        if name not in target.takes and name not in slots:
            found.append(("param_mapping", f"{target.name} takes no parameter {name}."))
        elif isinstance(value, str) and value.startswith("@") and value[1:] not in source.takes:
            found.append(("param_mapping", f"{source.name} has no parameter {value[1:]}."))
    literals = {
        name: value
        for name, value in mapping.items()
        if name in target.takes and not (isinstance(value, str) and value.startswith("@"))
    }
    properties = target.params_schema.get("properties") or {}
    for name, value in literals.items():
        alone = TypeDef(
            target.flavor, target.code, target.name, params_schema={"properties": {name: properties[name]}}
        )
        found += [("param_mapping", f"{fault.message}.") for fault in check_params(alone, {name: value})]
    if template:
        try:
            check_template(template)
        except TypeSystemError as fault:
            found.append(("template", str(fault)))
    return tuple(found)
