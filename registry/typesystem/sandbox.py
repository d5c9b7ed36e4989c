"""The Jinja2 environment of render templates: nothing to reach, every growing value guarded.

Used by `rendering` only.
"""

from __future__ import annotations

import json
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.filters import do_default
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

LONGEST_TEXT = 65_536
LONGEST_LIST = 70_000
LARGEST_NUMBER = 10**40
CLOCK = "_clock"

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If, nodes.For, nodes.Filter,
    nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Getattr, nodes.Getitem,
    nodes.Slice, nodes.CondExpr, nodes.Concat, nodes.Add, nodes.Sub, nodes.Mul, nodes.FloorDiv, nodes.Mod,
    nodes.Neg, nodes.Pos, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Assign, nodes.Keyword,
)  # fmt: skip
_TESTS = ("defined", "undefined", "none", "string", "number", "integer", "boolean", "mapping", "sequence", "true",
          "false", "odd", "even", "in", "eq", "ne", "lt", "le", "gt", "ge", "equalto")  # fmt: skip


_REFUSED = {"Call": "Calling a function", "Pow": "A power", "Div": "Division with a fraction"}


class Refused(Exception):  # noqa: N818 - never leaves the type system
    """A limit or a rule of the sandbox was broken; the text is for people."""


class NotAllowed(Refused):
    """The template holds something that render templates may not use."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class Clock:
    """The time left to one rendering."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def tick(self) -> None:
        if time.monotonic() > self.end:
            raise Refused("The template took too long")


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2 without globals, calls and powers; what remains is counted and measured."""

    intercepted_binops = frozenset(["+", "-", "*", "//", "%"])

    def __init__(self) -> None:
        super().__init__(autoescape=False, undefined=jinja2.StrictUndefined, optimized=False, finalize=_text)
        self.globals = {}
        self.filters = dict(_FILTERS)
        self.tests = {name: self.tests[name] for name in _TESTS}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        context.resolve(CLOCK).tick()
        return _OPERATIONS[operator](left, right)

    def prepare(self, source: str) -> jinja2.Template:
        """Checks and compiles a template. Raises `NotAllowed` or Jinja2's own syntax error."""
        tree = self.parse(source)
        for node in tree.find_all(nodes.Node):
            _check(node)
        code = self.compile(_Instrument().visit(tree), filename="<template>")
        return jinja2.Template.from_code(self, code, {}, None)


def _check(node: nodes.Node) -> None:
    if not isinstance(node, _ALLOWED):
        what = _REFUSED.get(type(node).__name__, type(node).__name__)
        raise NotAllowed(f"{what} is not allowed in a render template", node.lineno)
    if isinstance(node, nodes.Name) and (node.name.startswith("_") or node.name in ("self", "caller")):
        raise NotAllowed(f"The name {node.name} is not allowed in a render template", node.lineno)
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise NotAllowed(
            f"The filter {node.name} is not available; there are {', '.join(FILTERS)}", node.lineno
        )
    if isinstance(node, nodes.For) and node.recursive:
        raise NotAllowed("A recursive loop is not allowed in a render template", node.lineno)
    if isinstance(node, nodes.Filter | nodes.Test) and (node.dyn_args or node.dyn_kwargs):
        raise NotAllowed("Unpacking arguments is not allowed in a render template", node.lineno)
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        raise NotAllowed(f"The test {node.name} is not available; there are {', '.join(_TESTS)}", node.lineno)


class _Instrument(NodeTransformer):
    """Routes loops and joined texts through the counting filters."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - named by Jinja2
        self.generic_visit(node)
        node.iter = _filter(node.iter, "_counted", [])
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - named by Jinja2
        self.generic_visit(node)
        return _filter(node.nodes[0], "_joined", node.nodes[1:])


def _filter(node: Any, name: str, arguments: list[nodes.Expr]) -> nodes.Filter:
    made = nodes.Filter(node, name, arguments, [], None, None, lineno=node.lineno)
    made.set_environment(node.environment)
    return made


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | Mapping) and len(value) > 1000:
        raise Refused("A list in the template is too long to be written")
    return str(value)


def _sized(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise Refused("A text in the template became too long")
    return text


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _number(value: Any) -> Any:
    if abs(value) > LARGEST_NUMBER:
        raise Refused("A number in the template became too large")
    return value


def _plus(left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return _number(left + right)
    if isinstance(left, str) and isinstance(right, str):
        return _sized(left + right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) + len(right) > LONGEST_LIST:
            raise Refused("A list in the template became too long")
        return [*left, *right]
    raise Refused("Only two numbers, two texts or two lists can be added")


def _times(left: Any, right: Any) -> Any:
    if _is_number(left) and _is_number(right):
        return _number(_number(left) * _number(right))
    text, count = (left, right) if isinstance(left, str) else (right, left)
    if not isinstance(text, str) or not isinstance(count, int):
        raise Refused("Only numbers, or a text and a whole number, can be multiplied")
    if len(text) * count > LONGEST_TEXT:
        raise Refused("A text in the template became too long")
    return text * count


def _numbers_only(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def guarded(left: Any, right: Any) -> Any:
        if not (_is_number(left) and _is_number(right)):
            raise Refused("Only numbers can be calculated with")
        return _number(work(left, right))

    return guarded


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": _plus,
    "*": _times,
    "-": _numbers_only(operator.sub),
    "//": _numbers_only(operator.floordiv),
    "%": _numbers_only(operator.mod),
}


@jinja2.pass_context
def _counted(context: Context, values: Any) -> Iterator[Any]:
    clock = context.resolve(CLOCK)
    if isinstance(values, Undefined):
        str(values)
    for value in values:
        clock.tick()
        yield value


@jinja2.pass_context
def _joined(context: Context, *parts: Any) -> str:
    context.resolve(CLOCK).tick()
    return _sized("".join(_text(part) for part in parts))


@jinja2.pass_context
def _replace(context: Context, text: Any, old: Any, new: Any) -> str:
    context.resolve(CLOCK).tick()
    text, old, new = _text(text), _text(old), _text(new)
    if len(text) + text.count(old) * max(0, len(new) - len(old)) > LONGEST_TEXT:
        raise Refused("A text in the template became too long")
    return text.replace(old, new)


@jinja2.pass_context
def _join(context: Context, values: Iterable[Any], separator: Any = "") -> str:
    clock, separator = context.resolve(CLOCK), _text(separator)
    parts, size = [], 0
    for value in values:
        clock.tick()
        parts.append(_text(value))
        size += len(parts[-1]) + len(separator)
        if size > LONGEST_TEXT:
            raise Refused("A text in the template became too long")
    return separator.join(parts)


def _timed(work: Callable[[Any], Any]) -> Callable[..., Any]:
    @jinja2.pass_context
    def timed(context: Context, value: Any) -> Any:
        context.resolve(CLOCK).tick()
        return work(value)

    return timed


FILTERS = ("default", "d", "replace", "join", "lower", "upper", "trim", "length", "count", "string", "int", "abs",
           "first", "last", "list", "json")  # fmt: skip
_FILTERS: dict[str, Callable[..., Any]] = {
    "default": do_default,
    "d": do_default,
    "replace": _replace,
    "join": _join,
    "lower": _timed(lambda value: _text(value).lower()),
    "upper": _timed(lambda value: _sized(_text(value).upper())),
    "trim": _timed(lambda value: _text(value).strip()),
    "length": _timed(len),
    "count": _timed(len),
    "string": _timed(_text),
    "int": _timed(int),
    "abs": _timed(abs),
    "first": _timed(lambda value: value[0]),
    "last": _timed(lambda value: value[-1]),
    "list": _timed(list),
    "json": _timed(lambda value: _sized(json.dumps(_text(value), ensure_ascii=False))),
    "_counted": _counted,
    "_joined": _joined,
}
