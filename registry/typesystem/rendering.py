"""Writes a type as SQL from its Jinja2 template, with limits on time and size. Pure."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jinja2

from registry.typesystem.model import (
    NOTHING,
    Catalogue,
    ParamsInvalid,
    TemplateInvalid,
    TypeDef,
    TypeExpr,
    TypeSystemError,
)
from registry.typesystem.params import check_params
from registry.typesystem.parts import members
from registry.typesystem.sandbox import CLOCK, Clock, NotAllowed, Refused, Sandbox

SECONDS = 0.05
LONGEST_OUTPUT = 2048
LONGEST_TEMPLATE = 8192

_sandbox = Sandbox()


def render(
    catalogue: Catalogue,
    code: str,
    params: Mapping[str, Any] = NOTHING,
    children: Mapping[str, TypeExpr] = NOTHING,
) -> str:
    """The SQL of a type. Raises `ParamsInvalid` or `TemplateInvalid`, both `TypeSystemError`."""
    typedef = catalogue.get(code)
    if typedef is None:
        raise TypeSystemError(f"The catalogue of {catalogue.flavor} has no type {code}")
    errors = check_params(typedef, params)
    if errors:
        raise ParamsInvalid(errors)
    return write(typedef, {name: value for name, value in params.items() if value is not None}, children)


def write(typedef: TypeDef, params: Mapping[str, Any], children: Mapping[str, TypeExpr] = NOTHING) -> str:
    """As `render`, for parameters that were checked before."""
    if typedef.render_template is None:
        return typedef.name
    template = _compiled(typedef.render_template)
    values: dict[str, Any] = {**params, CLOCK: Clock(SECONDS)}
    if typedef.has_named_parts:
        values["members"] = members(params, children)
    else:
        values |= {slot: child.rendered for slot, child in children.items()}
    written, size = [], 0
    try:
        for part in template.generate(values):
            written.append(part)
            size += len(part)
            if size > LONGEST_OUTPUT:
                raise TemplateInvalid(f"The template writes more than {LONGEST_OUTPUT} characters")
    except TypeSystemError:
        raise
    except jinja2.UndefinedError as fault:
        raise TemplateInvalid(_sentence(fault), line=_line(fault)) from None
    except Exception as fault:  # noqa: BLE001 - whatever a template does wrong is told with its line
        sentence = str(fault) if isinstance(fault, Refused) else f"The template fails: {_sentence(fault)}"
        raise TemplateInvalid(sentence, line=_line(fault)) from None
    return "".join(written)


def check_template(source: str) -> None:
    """Raises `TemplateInvalid` when the text cannot be a render template."""
    _compiled(source)


@lru_cache(maxsize=2048)
def _compiled(source: str) -> jinja2.Template:
    if len(source) > LONGEST_TEMPLATE:
        raise TemplateInvalid(f"A template has at most {LONGEST_TEMPLATE} characters")
    try:
        return _sandbox.prepare(source)
    except jinja2.TemplateSyntaxError as fault:
        raise TemplateInvalid(fault.message or "This is not a template", line=fault.lineno) from None
    except NotAllowed as fault:
        raise TemplateInvalid(str(fault), line=fault.line) from None
    except (RecursionError, MemoryError):
        raise TemplateInvalid("The template is nested too deeply") from None
    except (SyntaxError, ValueError, jinja2.TemplateError) as fault:
        raise TemplateInvalid(f"This is not a template: {_sentence(fault)}") from None


def _sentence(fault: Exception) -> str:
    return str(fault).replace("\n", " ")[:200] or type(fault).__name__


def _line(fault: Exception) -> int | None:
    lines = [
        frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == "<template>"
    ]
    return lines[-1] if lines else None
