"""Checks type parameters against a type's JSON Schema (2020-12) and says in plain words what is wrong. Pure.

Beside the standard's keywords a schema may use `x-atMost` (`{"scale": "precision"}`: no larger than the other
parameter) and `x-message` (the sentence shown when a part of the schema is broken).

A schema comes from people, so it may be as slow as they like: patterns have a time limit, and the keywords applied to
one set of parameters are counted.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema
import regex
from jsonschema import Draft202012Validator, validators
from referencing import Registry
from referencing.exceptions import Unresolvable

from registry.typesystem.model import ParamError, TypeDef

PATTERN_SECONDS = 0.1
MOST_STEPS = 1_000_000  # an enum of 65,535 labels takes 200,000

_WORDS = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false",
          "array": "a list", "object": "a set of named values", "null": "empty"}  # fmt: skip


def check_params(
    typedef: TypeDef, params: Mapping[str, Any], *, reported: bool = False
) -> tuple[ParamError, ...]:
    """Every fault of the parameters, first places first; empty when they fit the type.

    A parameter that is null counts as not given. `reported` is for what a server says it has: rules of good taste
    (`x-atMost`) are left out then, since PostgreSQL 15 really holds a `numeric(3,5)`.
    """
    if not isinstance(params, Mapping):
        return (ParamError("", "parameters must be a set of named values"),)
    given = {name: value for name, value in params.items() if value is not None}
    try:
        validator = _validator(json.dumps(typedef.params_schema, sort_keys=False), reported)
        _counted.steps = 0
        faults = sorted(validator.iter_errors(given), key=lambda fault: [str(part) for part in fault.path])
        return tuple(dict.fromkeys(_explain(fault) for fault in faults))
    except Unresolvable:
        return (ParamError("", f"the schema of {typedef.name} refers to something outside of itself"),)
    except (RecursionError, regex.error, TimeoutError, _TooManySteps):
        return (ParamError("", f"the schema of {typedef.name} cannot be applied to these parameters"),)


def check_schema(schema: Any) -> tuple[ParamError, ...]:
    """What is wrong with a schema of parameters itself; empty when it can be used."""
    if not isinstance(schema, Mapping):
        return (ParamError("", "the schema must be a JSON object"),)
    try:
        if fault := _schema_fault(json.dumps(schema, sort_keys=False)):
            return (fault,)
    except (RecursionError, TypeError, ValueError):
        return (ParamError("", "the schema is nested too deeply or holds what JSON cannot"),)
    for path, part in _walk(schema):
        if isinstance(part.get("pattern"), str):
            try:
                re.compile(part["pattern"])
                regex.compile(part["pattern"])
            except (re.error, regex.error) as fault:
                return (ParamError(f"{path}pattern", f"not a regular expression: {fault}"),)
        if isinstance(part.get("patternProperties"), Mapping):
            return (ParamError(f"{path}patternProperties", "parameters have names: list them in properties"),)
        reference = part.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            return (ParamError(f"{path}$ref", "a schema may only refer to itself"),)
    return ()


@lru_cache(maxsize=512)
def _schema_fault(text: str) -> ParamError | None:
    """What the standard's own schema says of a schema; many types share one, so answers are kept."""
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except jsonschema.SchemaError as fault:
        return ParamError(".".join(str(part) for part in fault.path), fault.message)
    return None


def _walk(part: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(part, Mapping):
        yield path, part
        for key, value in part.items():
            yield from _walk(value, f"{path}{key}.")
    elif isinstance(part, list):
        for n, value in enumerate(part):
            yield from _walk(value, f"{path}{n}.")


class _TooManySteps(Exception):  # noqa: N818 - never leaves this module
    """One set of parameters met more keywords than any honest schema has."""


_counted = threading.local()


def _count(keyword: Callable[..., Any]) -> Callable[..., Any]:
    def counting(*args: Any) -> Any:
        _counted.steps = getattr(_counted, "steps", 0) + 1
        if _counted.steps > MOST_STEPS:
            raise _TooManySteps
        return keyword(*args)

    return counting


def _whole_pattern(
    validator: Any, pattern: str, instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "string"):
        return
    if regex.fullmatch(pattern, instance, timeout=PATTERN_SECONDS) is None:
        yield jsonschema.ValidationError("pattern")


def _unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    """By their texts: comparing each with each would take very long for a long list of unlike things."""
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({json.dumps(item, sort_keys=True) for item in instance}) < len(instance):
        yield jsonschema.ValidationError("uniqueItems")


def _at_most(validator: Any, pairs: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "object") or not isinstance(pairs, Mapping):
        return
    for small, large in pairs.items():
        both = [instance.get(name) for name in (small, large)]
        if all(validator.is_type(value, "integer") for value in both) and both[0] > both[1]:
            yield jsonschema.ValidationError(f"{small} must not be larger than {large}", path=[small])


_KEYWORDS = {**Draft202012Validator.VALIDATORS, "pattern": _whole_pattern, "uniqueItems": _unique}
_Reported = validators.extend(
    Draft202012Validator, {name: _count(keyword) for name, keyword in _KEYWORDS.items()}
)
_Strict = validators.extend(_Reported, {"x-atMost": _count(_at_most)})


@lru_cache(maxsize=1024)
def _validator(schema: str, reported: bool) -> Any:
    return (_Reported if reported else _Strict)(json.loads(schema), registry=Registry())


def _explain(fault: Any) -> ParamError:
    path = ".".join(str(part) for part in fault.path)
    name = path or "parameters"
    if isinstance(fault.schema, Mapping) and isinstance(fault.schema.get("x-message"), str):
        return ParamError(path, fault.schema["x-message"])
    if fault.validator == "x-atMost":
        return ParamError(path, fault.message)
    if fault.validator == "required":
        missing = next((each for each in fault.validator_value if each not in fault.instance), "a parameter")
        return ParamError(_join(path, missing), f"{missing} is required")
    if fault.validator in ("additionalProperties", "unevaluatedProperties"):
        known = fault.schema.get("properties", {})
        extra = next((each for each in fault.instance if each not in known), "")
        return ParamError(_join(path, extra), f"{extra} is not a parameter of this type")
    if fault.validator == "dependentRequired":
        for name, needs in fault.validator_value.items():
            missing = next((each for each in needs if each not in fault.instance), None)
            if name in fault.instance and missing:
                return ParamError(_join(path, missing), f"{name} needs {missing}")
    sentence = _SENTENCES.get(str(fault.validator))
    return ParamError(
        path, f"{name} {sentence(fault.validator_value)}" if sentence else f"{name}: {fault.message}"
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kinds(value: Any) -> str:
    return " or ".join(_WORDS.get(each, str(each)) for each in ([value] if isinstance(value, str) else value))


_SENTENCES: dict[str, Callable[[Any], str]] = {
    "type": lambda value: f"must be {_kinds(value)}",
    "minimum": lambda value: f"must be at least {value}",
    "maximum": lambda value: f"must be at most {value}",
    "exclusiveMinimum": lambda value: f"must be more than {value}",
    "exclusiveMaximum": lambda value: f"must be less than {value}",
    "multipleOf": lambda value: f"must be a multiple of {value}",
    "enum": lambda value: "must be one of: " + ", ".join(str(each) for each in value),
    "const": lambda value: f"must be {value}",
    "pattern": lambda value: "has characters or a form that is not allowed here",
    "minLength": lambda value: f"must have at least {value} characters" if value > 1 else "must not be empty",
    "maxLength": lambda value: f"must have at most {value} characters",
    "minItems": lambda value: f"must have at least {value} entries" if value > 1 else "must not be empty",
    "maxItems": lambda value: f"must have at most {value} entries",
    "uniqueItems": lambda value: "must not hold the same entry twice",
}
